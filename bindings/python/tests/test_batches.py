# SPDX-License-Identifier: MIT
"""Batches: their memory, their origin, and what reads them."""

import ctypes
import gc
import weakref

import pytest

import pugmark

numpy = pytest.importorskip("numpy")


def test_memory_outlives_all(small):
    capture = pugmark.open(small)
    arrays = [batch.numpy() for batch in capture.batches()]
    element = next(capture.elements())
    sums = [int(array["index"].sum()) for array in arrays]
    capture.close()
    del capture
    gc.collect()
    assert [int(array["index"].sum()) for array in arrays] == sums
    assert element.type == pugmark.NO_SYNC
    assert not arrays[0].flags.writeable
    with pytest.raises(ValueError):
        arrays[0]["index"] = 0
    with pytest.raises((TypeError, BufferError)):
        (ctypes.c_char * 8).from_buffer(arrays[0].base if arrays[0].base is not None else arrays[0])


def test_fields_agree(small):
    with pugmark.open(small) as capture:
        for batch in capture.batches():
            assert len(batch) <= 4096
            array = batch.numpy()
            view = memoryview(batch)
            assert view.readonly and view.itemsize == array.itemsize == 64 and len(view) == len(batch)
            other = numpy.asarray(batch)
            for n in range(0, len(batch), 97):
                row = batch[n]
                for name in array.dtype.names:
                    assert getattr(row, name) == array[name][n]
                    if name in other.dtype.names:
                        assert other[name][n] == array[name][n]
            assert "timestamp" in array.dtype.names and "number" in array.dtype.names
    with pytest.raises(IndexError):
        batch[len(batch)]


def test_array_interface(small):
    with pugmark.open(small) as capture:
        batch = next(capture.batches())
    interface = batch.__array_interface__

    class Only:
        __array_interface__ = interface

    assert (numpy.asarray(Only())["index"] == batch.numpy()["index"]).all()


def test_merged(small):
    with pugmark.open(small) as capture:
        plain = [e.index for e in capture.elements()]
        merged = list(capture.batches(merge=True))
    assert merged[0].source is None
    assert [row.index for batch in merged for row in batch] == plain
    assert {"task", "cpu", "time"} <= set(merged[0].numpy().dtype.names)
    assert merged[0][0].task == pugmark.NO_TASK


def test_selection(small):
    with pugmark.open(small) as capture:
        assert sum(map(len, capture.batches(source=0x10))) > 0
        with pytest.raises((ValueError, pugmark.Error)):
            sum(map(len, capture.batches(source=70000)))
        with pytest.raises((TypeError, OverflowError)):
            capture.batches(source="x")
        with pytest.raises(TypeError):
            capture.batches(nothing=1)


def test_threads_agree(path):
    with pugmark.open(path) as capture:
        one = b"".join(bytes(batch) for batch in capture.batches(threads=1))
        many = b"".join(bytes(batch) for batch in capture.batches(threads=3))
    assert one == many


def test_batch_dies_with_its_array(small):
    with pugmark.open(small) as capture:
        array = next(capture.batches()).numpy()
        gone = weakref.ref(array)
        del array
        gc.collect()
        assert gone() is None


class Schema(ctypes.Structure):
    pass


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p),
                   ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
                   ("dictionary", ctypes.c_void_p),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
                   ("private_data", ctypes.c_void_p)]


class Array(ctypes.Structure):
    pass


Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64),
                  ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                  ("n_children", ctypes.c_int64),
                  ("buffers", ctypes.POINTER(ctypes.c_void_p)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.c_void_p),
                  ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
                  ("private_data", ctypes.c_void_p)]


class Stream(ctypes.Structure):
    pass


Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))),
    ("private_data", ctypes.c_void_p)]


def read_column(format, array):
    """The values of a column, read as the Arrow specification says."""
    valid = (lambda i: True) if not array.buffers[0] else (
        lambda i: ctypes.cast(array.buffers[0], ctypes.POINTER(ctypes.c_uint8))[i // 8] >> i % 8 & 1)
    kinds = {"C": ctypes.c_uint8, "c": ctypes.c_int8, "S": ctypes.c_uint16, "I": ctypes.c_uint32,
             "i": ctypes.c_int32, "L": ctypes.c_uint64, "l": ctypes.c_int64, "g": ctypes.c_double}
    values = []
    for i in range(array.length):
        if not valid(i):
            values.append(None)
        elif format == "U":
            offsets = ctypes.cast(array.buffers[1], ctypes.POINTER(ctypes.c_int64))
            values.append(ctypes.string_at((array.buffers[2] or 0) + offsets[i],
                                           offsets[i + 1] - offsets[i]).decode())
        elif format == "b":
            bits = ctypes.cast(array.buffers[1], ctypes.POINTER(ctypes.c_uint8))
            values.append(bool(bits[i // 8] >> i % 8 & 1))
        else:
            values.append(ctypes.cast(array.buffers[1], ctypes.POINTER(kinds[format]))[i])
    return values


def read_stream(capsule):
    """A table out of a capsule: what a consumer such as pyarrow does."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = ctypes.cast(get(capsule, b"arrow_array_stream"), ctypes.POINTER(Stream))
    schema, array, end = Schema(), Array(), Array()
    assert stream.contents.get_schema(stream, schema) == 0
    assert stream.contents.get_next(stream, array) == 0
    assert stream.contents.get_next(stream, end) == 0 and not end.release
    stream.contents.release(stream)
    assert not stream.contents.release
    table = {}
    for i in range(schema.n_children):
        child = schema.children[i].contents
        table[child.name.decode()] = read_column(child.format.decode(),
                                                 array.children[i].contents)
    array.release(array)
    schema.release(schema)
    assert not array.release and not schema.release
    return table


def test_arrow(small):
    with pugmark.open(small) as capture:
        batch = next(capture.batches())
        calls = next(capture.calls().batches())
        functions = capture.profile(stacks=True).functions()
    table = read_stream(batch.__arrow_c_stream__())
    assert table["index"] == batch.numpy()["index"].tolist()
    assert table["level"] == batch.numpy()["level"].tolist()
    table = read_stream(calls.__arrow_c_stream__())
    assert table["lost"] == calls.numpy()["lost"].tolist()
    assert table["function"] == [call.function for call in calls]
    table = read_stream(functions.__arrow_c_stream__())
    assert table["name"] == functions["name"] and table["fraction"] == functions["fraction"]
    mixed = pugmark.Table(["a", "b", "c"], [(None, -1, "x"), (3, 2, None)])
    assert read_stream(mixed.__arrow_c_stream__()) == {"a": [None, 3], "b": [-1, 2],
                                                       "c": ["x", None]}
    batch.__arrow_c_stream__()  # nobody reads it


def test_others_read_arrow(small):
    pyarrow = pytest.importorskip("pyarrow", reason="no pyarrow here; our own consumer read it")
    with pugmark.open(small) as capture:
        batch = next(capture.batches())
    assert pyarrow.table(batch).num_rows == len(batch)


def test_pandas(small):
    pytest.importorskip("pandas")
    with pugmark.open(small) as capture:
        batch = next(capture.batches())
        assert len(batch.to_pandas()) == len(batch)
        frame = capture.profile(stacks=True).functions().to_pandas()
        assert frame["self"].sum() == 100002


def test_looks(small):
    with pugmark.open(small) as capture:
        batch = next(capture.batches())
        profile = capture.profile(stacks=True)
        assert "<table>" in batch._repr_html_() and "source 0x10" in repr(batch)
        assert profile._repr_html_().startswith("<svg")
        assert "etmv4" in str(capture) and "0x10" in capture._repr_html_()
        assert "<table>" in capture.timeline()._repr_html_()
        assert str(next(capture.instructions())).startswith("0x21022c")
