# SPDX-License-Identifier: MIT
"""Ends, errors, threads and signals."""

import logging
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

import pugmark
import pugmark.advanced


def threads_of_process():
    return len(os.listdir("/proc/self/task"))


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_left_early(small):
    before = threads_of_process()
    with pugmark.open(small) as capture:
        for batch in capture.batches():
            break
        del batch
        iterator = capture.batches()
        next(iterator)
        with pytest.raises(ZeroDivisionError):
            for _ in capture.batches():
                1 / 0
        calls = capture.calls()
        next(calls)
    assert threads_of_process() == before
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(StopIteration):
        next(calls)


def test_use_after_close(small):
    capture = pugmark.open(small)
    capture.close()
    capture.close()
    assert capture.closed and "closed" in repr(capture)
    for use in (capture.batches, capture.calls, capture.profile, capture.instructions,
                lambda: capture.sources, lambda: pugmark.advanced.Index(capture)):
        with pytest.raises(ValueError):
            use()


def test_objects_keep_their_capture(small):
    stream = pugmark.open(small).batches()
    assert sum(map(len, stream)) == 26361


def test_close_from_another_thread(small):
    with pugmark.open(small) as capture:
        stream = capture.batches()
        next(stream)
        other = threading.Thread(target=stream.close)
        other.start()
        list(stream)
        other.join()
        assert list(stream) == []


def test_many_threads(small):
    results, errors = [], []
    with pugmark.open(small) as capture:
        def work():
            try:
                results.append((sum(map(len, capture.batches())), len(list(capture.calls())),
                                capture.profile().instructions))
            except BaseException as error:
                errors.append(error)
        workers = [threading.Thread(target=work) for _ in range(6)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert not errors and len(set(results)) == 1 and len(results) == 6


def test_shared_stream(small):
    counts = []
    with pugmark.open(small) as capture:
        stream = capture.batches()
        workers = [threading.Thread(target=lambda: counts.append(sum(map(len, stream))))
                   for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert sum(counts) == 26361


def test_a_thousand_opens(small):
    def once():
        with pugmark.open(small) as capture:
            next(capture.batches(threads=1))
            capture.sources

    for _ in range(100):
        once()
    before, threads = memory(), threads_of_process()
    for _ in range(1000):
        once()
    assert memory() - before < 4 << 20
    assert threads_of_process() == threads


def test_errors(tmp_path, small):
    with pytest.raises(pugmark.FileError) as caught:
        pugmark.open(tmp_path / "none")
    assert caught.value.status < 0 and isinstance(caught.value, OSError)
    (tmp_path / "x").write_bytes(b"no trace")
    with pytest.raises(pugmark.InputError) as caught:
        pugmark.open(tmp_path / "x")
    assert caught.value.lines
    with pytest.raises(pugmark.Error):
        pugmark.open(tmp_path / "x", protocol="NOTHING")
    with pytest.raises((TypeError, ValueError)):
        pugmark.open(b"a\0b")
    with pytest.raises(TypeError):
        pugmark.open(small, unknown=1)
    with pugmark.open(small) as capture:
        with pytest.raises(pugmark.Error):
            capture.profile().export("nothing")
        with pytest.raises(pugmark.Error):
            capture.coverage().lcov()
        with pytest.raises(ValueError):
            capture.instructions(before=pugmark.EXCEPTION)
        with pytest.raises(ValueError):
            capture.instructions(last=1 << 40)


def test_damage_is_logged(small, tmp_path, caplog):
    import shutil

    copy = tmp_path / "damaged"
    shutil.copytree(small, copy)
    trace = bytearray((copy / "trace.bin").read_bytes())
    for at in range(5000, 30000, 500):
        trace[at:at + 40] = bytes(range(100, 140))
    (copy / "trace.bin").write_bytes(trace)
    with caplog.at_level(logging.WARNING, "pugmark"), pugmark.open(copy) as capture:
        list(capture.batches())
    assert caplog.records and caplog.records[0].name == "pugmark"
    assert any(record.offset is not None for record in caplog.records)


# A shell that runs this in the background has it ignore SIGINT.
LONG = """
import pathlib, signal, sys, pugmark
signal.signal(signal.SIGINT, signal.default_int_handler)
source, what = pathlib.Path(sys.argv[1]), sys.argv[2]
capture = pugmark.open(source)
print("ready", flush=True)
try:
    while True:
        if what == "profile":
            capture.profile(stacks=True)
        elif what == "iterate":
            for batch in capture.batches():
                pass
        else:
            for call in capture.calls():
                pass
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("what", ["profile", "iterate", "calls"])
def test_keyboard_interrupt(small, what):
    with subprocess.Popen([sys.executable, "-c", LONG, small, what], stdout=subprocess.PIPE,
                          text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    assert out == "interrupted\n" and process.returncode == 0


def test_nothing_is_imported_too_early():
    code = ("import sys, pugmark; print([name for name in ('numpy', 'pandas', 'logging', 'pathlib')"
            " if name in sys.modules])")
    out = subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, "
                          f"{str(pathlib.Path(pugmark.__file__).parents[1])!r}); {code}"],
                         capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


def test_instructions_before(small):
    with pugmark.open(small) as capture:
        every = list(capture.instructions(text=False))
        last = list(capture.instructions(last=20))
        assert [i.address for i in last] == [i.address for i in every[-20:]]
        before = list(capture.instructions(before=pugmark.EXCEPTION, last=5))
        exceptions = [e for e in capture.elements() if e.type == pugmark.EXCEPTION]
    assert len(exceptions) == 2 and {i.group for i in before} == {0, 1}
    assert last[-1].text and last[-1].outcome in ("taken", "not taken", None)


def test_timeline(small, tmp_path):
    import json

    with pugmark.open(small) as capture:
        timeline = capture.timeline()
        timeline.save(tmp_path / "t.json", "chrome")
        calls = [row for row in timeline.slices() if row.kind == "call"]
        assert len(calls) == timeline.counts()["calls"] == len(list(capture.calls()))
        assert sorted(timeline.slices()["begin"]) == sorted(slice.begin for slice in timeline)
        assert capture.timeline(depth=1).counts()["left_out"] > 0
        assert capture.timeline(clock="instructions").unit == "instructions"
        assert not any(slice.estimated for slice in capture.timeline(exact=True))
        for wrong in (lambda: timeline.export("ctf"), lambda: timeline.export("pdf"),
                      lambda: timeline.save(tmp_path, "ctf"), lambda: capture.timeline(clock="x"),
                      lambda: timeline.save(tmp_path / "no" / "file"),
                      lambda: list(capture.timeline(rtos="no kernel")), lambda: next(iter(timeline)).x):
            with pytest.raises((pugmark.Error, ValueError, OSError, AttributeError)):
                wrong()
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert sum(event["ph"] == "B" for event in events) == len(calls)
    assert list(tmp_path.iterdir()) == [tmp_path / "t.json"]  # nothing is left of what failed


def test_timeline_slices_in_arrays(small):
    with pugmark.open(small) as capture:
        batch = next(iter(capture.timeline()).batches())
        a = batch.numpy()
        assert (a["end"] >= a["begin"]).all() and a["value"].dtype.kind == "i"
        assert batch.strings()[a["name"][0]] == batch[0].name


def test_timeline_is_left_early(small):
    with pugmark.open(small) as capture:
        for slice in capture.timeline():
            break
        assert slice.track


def test_wrong_values(small):
    with pugmark.open(small) as capture:
        profile = capture.profile()
        for work in (lambda: capture.profile(threads=-1), lambda: capture.batches(threads="x"),
                     lambda: capture.instructions(last=-1), lambda: profile.export(rows=-1),
                     lambda: capture.batches(cpu=2**40), lambda: capture.batches(comm=[3]),
                     lambda: capture.batches(time=(-1, 5)), lambda: profile.export(weight="x"),
                     lambda: pugmark.advanced.Index(capture, -1),
                     lambda: pugmark.open(small, set={"x": -1}),
                     lambda: pugmark.open(small, elf=[(1, 2)]),
                     lambda: pugmark.open(small, image=("x",) * 5),
                     lambda: pugmark.advanced.Tree(settings=[("a",)]),
                     lambda: pugmark.advanced.Image().read(0, -1),
                     lambda: capture._handle.stream("nothing", {})):
            with pytest.raises((pugmark.Error, TypeError, ValueError, OverflowError)):
                work()
        assert sum(map(len, capture.batches(threads=5000))) == 26361
        assert list(capture.batches(time=(2**63, 2**63 + 1))) == []


def test_end_of_the_interpreter(small):
    code = ("import pugmark, sys\ncapture = pugmark.open(sys.argv[1])\n"
            "rows = capture.calls()\nnext(rows)\nsys.modules['keep'] = rows\n")
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", code, small], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr
