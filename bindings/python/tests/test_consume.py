# SPDX-License-Identifier: MIT
"""A consumer in Python: what it gets, how it stops, and what it may raise."""

import gc
import subprocess
import sys

import pytest

import pugmark
from pugmark import advanced


class All(advanced.Consumer):
    def __init__(self):
        self.batches = []

    def take(self, part):
        self.batches += part


@pytest.mark.parametrize("threads", [1, 4])
def test_all_elements_in_order(path, threads):
    try:
        capture = pugmark.open(path)
    except pugmark.Error as error:
        pytest.skip(str(error))
    with capture:
        mine = All()
        try:
            advanced.consume(capture, mine, threads=threads)
        except pugmark.DecodeError:
            return
        expected = [batch.tobytes() for batch in map(memoryview, capture.batches(threads=1))]
    assert b"".join(memoryview(batch).tobytes() for batch in mine.batches) == b"".join(expected)
    assert all(batch.source is not None and len(batch) <= 4096 for batch in mine.batches)


def test_selection(small):
    with pugmark.open(small) as capture:
        assert advanced.consume(capture, All(), source=0x11).batches == []


class Stops(All):
    def take(self, part):
        super().take(part)
        return False


def test_stops(small):
    with pugmark.open(small) as capture:
        assert advanced.consume(capture, Stops(), threads=1).batches


@pytest.mark.parametrize("method", ["begin", "elements", "take"])
def test_exceptions_come_back(small, method):
    def bad(self, *words):
        raise LookupError(method)

    consumer = type("Bad", (All,), {method: bad})()
    with pugmark.open(small) as capture:
        for threads in (1, 4):
            with pytest.raises(LookupError, match=method) as caught:
                advanced.consume(capture, consumer, threads=threads)
            assert caught.traceback[-1].name == "bad"
        for wrong in (None, 3, object()):
            with pytest.raises(AttributeError):
                advanced.consume(capture, wrong)


class Fails(All):
    def take(self, part):
        return 1 / 0


def test_nothing_leaks(small):
    def work():
        with pugmark.open(small) as capture:
            held = len(advanced.consume(capture, All()).batches)
            with pytest.raises(ZeroDivisionError):
                advanced.consume(capture, Fails())
        assert held

    def growth():
        gc.collect()
        before = sys.getallocatedblocks(), sys.getrefcount(pugmark.Batch)
        for _ in range(60):
            work()
        gc.collect()
        return (sys.getallocatedblocks() - before[0], sys.getrefcount(pugmark.Batch) - before[1])

    # Python's own caches fill up first. What leaks an object a time never comes to rest.
    assert any(max(growth()) < 30 for _ in range(10))


def test_interrupt(small):
    code = ("import signal, sys, pugmark, os\nfrom pugmark import advanced\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            "class C(advanced.Consumer):\n"
            "    def take(self, part): os.kill(os.getpid(), signal.SIGINT)\n"
            "capture = pugmark.open(sys.argv[1])\n"
            "try:\n    while True: advanced.consume(capture, C())\n"
            "except KeyboardInterrupt: print('interrupted')\n")
    done = subprocess.run([sys.executable, "-c", code, small], capture_output=True, text=True,
                          timeout=60)
    assert done.stdout == "interrupted\n" and not done.stderr
