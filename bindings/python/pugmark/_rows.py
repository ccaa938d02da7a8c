# SPDX-License-Identifier: MIT
"""What batches and tables can do beside what the extension does: NumPy, pandas, Arrow, pages."""

from . import _core

_dtypes = {}
_row_types = {}


def _dtype(kind):
    """The dtype of a kind of row, with all names, those that overlap too."""
    if kind not in _dtypes:
        import numpy

        size, fields = _core.fields(kind)
        codes = {"s": "u4", "Q": "u8", "q": "i8", "I": "u4", "i": "i4", "H": "u2", "B": "u1", "b": "i1",
                 "?": "?"}
        _dtypes[kind] = numpy.dtype({"names": [name for name, *_ in fields],
                                     "formats": [codes[form] for _, form, *_ in fields],
                                     "offsets": [offset for _, _, offset, _ in fields],
                                     "itemsize": size})
    return _dtypes[kind]


def numpy(self):
    """A structured array over the batch's memory, read-only. It keeps the batch alive.

    Its names are the attributes of single rows. Texts are numbers into ``strings()``.
    """
    import numpy as np

    if len(self) == 0:
        return np.empty(0, _dtype(self.kind))
    return np.frombuffer(self, _dtype(self.kind))


def _interface(self):
    """NumPy's array protocol, with the fields that do not overlap."""
    import sys

    size, fields = _core.fields(self.kind)
    forms = {"s": "<u4", "Q": "<u8", "q": "<i8", "I": "<u4", "i": "<i4", "H": "<u2", "B": "|u1", "b": "|i1",
             "?": "|b1"}
    descr, at = [], 0
    for name, form, offset, overlaps in fields:
        if overlaps:
            continue
        if offset > at:
            descr.append(("", f"|V{offset - at}"))
        descr.append((name, forms[form]))
        at = offset + int(forms[form][2:])
    if at < size:
        descr.append(("", f"|V{size - at}"))
    if sys.byteorder == "big":
        descr = [(name, form.replace("<", ">")) for name, form in descr]
    address = _address_of(self) if len(self) else 0
    return {"version": 3, "shape": (len(self),), "typestr": f"|V{size}", "descr": descr,
            "data": (address, True), "strides": None}


def _address_of(batch):
    import numpy as np

    return np.frombuffer(batch, "u1").__array_interface__["data"][0]


def _columns(batch):
    """The columns of a batch: (name, Arrow format, values as a list or an array)."""
    array = batch.numpy()
    _, fields = _core.fields(batch.kind)
    strings = batch.strings() if any(form == "s" for _, form, *_ in fields) else None
    for name, form, _, _ in fields:
        column = array[name]
        yield name, [strings[n] for n in column] if form == "s" else column


def _to_pandas(self):
    """The batch as a pandas.DataFrame, copied, with texts as str."""
    import pandas

    return pandas.DataFrame(dict(_columns(self)))


def _batch_repr(self):
    if self.source is None:
        return f"<pugmark.Batch of {len(self)} {self.kind}s>"
    rest = "".join(f" {name} {value}" for name, value in (("task", self.task), ("cpu", self.cpu),
                                                          ("time", self.time)) if value is not None)
    return f"<pugmark.Batch of {len(self)} {self.kind}s, source 0x{self.source:02x}{rest}>"


def _names(kind):
    return [name for name, *_ in _core.fields(kind)[1]]


def _batch_html(self):
    names = _names(self.kind)
    rows = [self[n]._values() for n in range(min(len(self), 10))]
    return html_table(names, rows, len(self))


def _call_str(call):
    where = f" at {call.file}:{call.line}" if call.file and call.line else ""
    name = call.function or f"0x{call.start:x}"
    if call.handler:
        name += f" in {call.handler}"
    times = f", {call.begin} to {call.end}" if call.unit else ""
    return f"{name}{where}{times}, {call.instructions} instructions, depth {call.depth}"


def _instruction_str(insn):
    where = ""
    if insn.function:
        where = f"  {insn.function}+0x{insn.offset:x}"
    if insn.file and insn.line:
        where += f"  {insn.file.rpartition('/')[2]}:{insn.line}"
    text = insn.text or insn.bytes[::-1].hex()
    outcome = f"  {insn.outcome}" if insn.outcome else ""
    return f"0x{insn.address:x}  {text}{outcome}{where}"


def _outcome(insn):
    """"taken" or "not taken" of a branch, "not executed" of another instruction, else None."""
    if insn.type in (_core.BRANCH, _core.INDIRECT_BRANCH):
        return "taken" if insn.executed else "not taken"
    return None if insn.executed else "not executed"


class Table:
    """Rows with names, which pandas and Arrow understand.

    A table is a sequence of named tuples, and its columns are lists:

    >>> table = Table(["name", "self"], [("main", 3), ("f", 5)])
    >>> table[1].name, table["self"]
    ('f', [3, 5])
    >>> print(table)
    name  self
    main     3
    f        5
    """

    def __init__(self, columns, rows):
        self.columns = tuple(columns)
        if self.columns not in _row_types:
            from collections import namedtuple

            _row_types[self.columns] = namedtuple("Row", self.columns, rename=True)
        make = _row_types[self.columns]._make
        self._rows = [make(row) for row in rows]

    def __len__(self):
        return len(self._rows)

    def __iter__(self):
        return iter(self._rows)

    def __getitem__(self, which):
        if isinstance(which, str):
            at = self.columns.index(which)
            return [row[at] for row in self._rows]
        if isinstance(which, slice):
            return Table(self.columns, self._rows[which])
        return self._rows[which]

    def __repr__(self):
        return f"<pugmark.Table of {len(self)} rows: {', '.join(self.columns)}>"

    def __str__(self):
        shown = [[_shown(value) for value in row] for row in self._rows[:40]]
        widths = [max(len(row[i]) for row in [list(self.columns), *shown])
                  for i in range(len(self.columns))]
        right = [bool(self._rows) and isinstance(self._rows[0][i], (int, float))
                 for i in range(len(self.columns))]
        lines = ["  ".join(text.rjust(width) if side else text.ljust(width)
                           for text, width, side in zip(row, widths, right)).rstrip()
                 for row in [self.columns, *shown]]
        if len(self) > 40:
            lines.append(f"... {len(self) - 40} more")
        return "\n".join(lines)

    def _repr_html_(self):
        return html_table(self.columns, self._rows[:20], len(self))

    def to_pandas(self):
        """The table as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self._rows, columns=list(self.columns))

    def __arrow_c_stream__(self, requested_schema=None):
        """The table as a stream of Arrow's C interface, in a PyCapsule. Values are copied once."""
        return arrow_capsule(len(self), ((name, self[name]) for name in self.columns))


def _shown(value):
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def html_table(columns, rows, count):
    """A small table for a notebook."""
    from html import escape

    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(_shown(value))}</td>" for value in row) + "</tr>"
                   for row in rows)
    more = f"<p>{count - len(rows)} more rows</p>" if count > len(rows) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


# ---- files ----

class beside:
    """A context: the name of a new file beside a path, which takes its name when all went well."""

    def __init__(self, path):
        self._path = path

    def __enter__(self):
        import os
        import tempfile

        handle, self._name = tempfile.mkstemp(dir=os.path.dirname(os.fspath(self._path)) or ".")
        os.close(handle)
        return self._name

    def __exit__(self, kind, error, trace):
        import os

        if kind is not None:
            os.unlink(self._name)
            return
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(self._name, 0o666 & ~mask)
        os.replace(self._name, self._path)


# ---- Arrow ----

def _bits(flags):
    """Flags as bits, the first one lowest, as Arrow has them."""
    flags = list(flags)
    out = bytearray((len(flags) + 7) // 8)
    for i, flag in enumerate(flags):
        if flag:
            out[i // 8] |= 1 << i % 8
    return bytes(out)


def _arrow_column(name, values):
    """(name, format, buffers) of a column: a list of Python objects, or a NumPy array."""
    from array import array

    if hasattr(values, "dtype"):
        kinds = {"u1": "C", "i1": "c", "u2": "S", "i2": "s", "u4": "I", "i4": "i", "u8": "L",
                 "i8": "l", "f8": "g"}
        code = values.dtype.str[1:]
        if code == "b1":
            return name, "b", (None, _bits(values))
        return name, kinds[code], (None, values.tobytes())
    validity = None if None not in values else _bits(value is not None for value in values)
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, bool) for value in known):
        return name, "b", (validity, _bits(values))
    if known and all(isinstance(value, int) for value in known):
        signed = min(known) < 0
        return name, "l" if signed else "L", (validity, array("q" if signed else "Q",
                                              [value or 0 for value in values]))
    if known and all(isinstance(value, (int, float)) for value in known):
        return name, "g", (validity, array("d", [value or 0 for value in values]))
    offsets, data = array("q", [0]), bytearray()
    for value in values:
        data += b"" if value is None else str(value).encode("utf-8", "replace")
        offsets.append(len(data))
    return name, "U", (validity, offsets, bytes(data))


def arrow_capsule(length, columns):
    """A PyCapsule "arrow_array_stream" of (name, values)."""
    return _core.arrow_stream(length, [_arrow_column(name, values) for name, values in columns])


def _batch_arrow(self, requested_schema=None):
    """The batch as a stream of Arrow's C interface, in a PyCapsule, with texts as texts."""
    return arrow_capsule(len(self), _columns(self))


# What needs Python is added to the extension's types here.
_core.Batch.numpy = numpy
_core.Batch.to_pandas = _to_pandas
_core.Batch.__repr__ = _batch_repr
_core.Batch._repr_html_ = _batch_html
_core.Batch.__arrow_c_stream__ = _batch_arrow
_core.Batch.__array_interface__ = property(_interface)
for _kind in (_core.Element, _core.MergedElement, _core.CorrelatedElement, _core.DwtEvent):
    _kind.__repr__ = lambda self: f"<{type(self).__name__} {self}>"
_core.Call.__str__ = _call_str
_core.Call.__repr__ = lambda self: f"<Call {self}>"
_core.Instruction.__str__ = _instruction_str
_core.Instruction.__repr__ = lambda self: f"<Instruction {self}>"
_core.Instruction.outcome = property(_outcome)
_core.Slice.__repr__ = lambda self: (f"<Slice {self.name or self.detail} on {self.track}, "
                                     f"{self.begin} to {self.end}>")
_core.Packet.__str__ = lambda self: self.text or self.name
_core.Packet.__repr__ = lambda self: f"<Packet {self}>"
