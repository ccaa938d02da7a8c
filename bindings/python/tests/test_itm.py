# SPDX-License-Identifier: MIT
"""Text on stimulus ports, DWT events, payloads, and inputs that are still arriving."""

import os
import threading

import pytest

import pugmark
from conftest import SOURCE

ASYNC = bytes(5) + b"\x80"
WRITES = ASYNC + bytes.fromhex("01 48 01 69 19 78 01 21 01 0a c0 0a 70 03 61 62 63 00 c0 5a 01 0a")


@pytest.fixture
def swo(tmp_path):
    (tmp_path / "swo.bin").write_bytes(WRITES)
    return tmp_path / "swo.bin"


def test_text(swo, command):
    with pugmark.open(swo, protocol="ITM") as capture:
        assert capture.itm() == b"Hi!\nabc\n" and capture.itm(3) == b"x" and capture.itm(9) == b""
        assert capture.itm() == command("itm", swo)
        events = [e for e in capture.dwt() if e.kind == pugmark.DWT_STIMULUS]
    assert [(e.time, e.number) for e in events if e.has_time][:2] == [(10, 0), (10, 0)]
    assert "H" not in repr(events[0].value) and events[0].text


def test_exceptions(tmp_path):
    (tmp_path / "x").write_bytes(ASYNC + b"".join(
        bytes([0x0E, 15, kind, 0xC0, 10]) for kind in (0x10, 0x20, 0x30)))
    with pugmark.open(tmp_path / "x", protocol="ITM") as capture:
        events = [(e.number, e.action, e.time) for e in capture.dwt()
                  if e.kind == pugmark.DWT_EXCEPTION]
    assert events == [(15, 1, 10), (15, 2, 20), (15, 3, 30)]


def test_live(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    def write():
        with open(fifo, "wb") as file:
            file.write(WRITES)

    writer = threading.Thread(target=write)
    writer.start()
    with pugmark.open(fifo, protocol="ITM") as capture:
        assert capture.live and capture.kind == "stream"
        assert capture.itm() == b"Hi!\nabc\n"
    writer.join()


def test_live_arrives_at_once(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    begin, end = threading.Event(), threading.Event()

    def write():
        with open(fifo, "wb", buffering=0) as file:
            file.write(WRITES)
            begin.set()
            end.wait(60)

    writer = threading.Thread(target=write)
    writer.start()
    with pugmark.open(fifo, protocol="ITM") as capture:
        rows = capture.elements()
        assert next(rows).type == pugmark.NO_SYNC  # before the writer closes it
        end.set()
        assert sum(1 for row in rows if row.type == pugmark.ITM) > 8
    writer.join()


@pytest.mark.skipif(os.environ.get("PUG_PART") != "shared" or
                    not (SOURCE / "../shared/captures/stm_only").is_dir(),
                    reason="the capture is beside the repository")
def test_payloads():
    with pugmark.open(SOURCE / "../shared/captures/stm_only") as capture:
        batches = list(capture.batches())
    found = 0
    for batch in batches:
        for n, element in enumerate(batch):
            if element.flags & pugmark.HAS_PAYLOAD:
                found += 1
                assert len(element.payload) == element.count
                assert batch.payload(n) == element.payload == batch.payload(n - len(batch))
                assert f"{element.payload[0]:02x} " in element.text
            else:
                assert element.payload == b""
    assert found > 10
