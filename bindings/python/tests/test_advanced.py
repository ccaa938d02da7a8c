# SPDX-License-Identifier: MIT
"""Parts: images, trees, indexes, packets, and elements by time."""

import pytest

import pugmark
from pugmark import advanced


def test_image(small):
    code = (small / "memory_0.bin").read_bytes()
    image = advanced.Image()
    image.add_bytes(0x210200, code)
    assert image.read(0x210210, 8) == code[16:24]
    assert image.read(0x100, 4) == b"" and image.symbol(0x210210) is None
    with pytest.raises(pugmark.Error):
        image.add_bytes(0x210300, code)
    asked = []
    other = advanced.Image()
    other.add_reader(0x1000, 0x2000, lambda address, size: asked.append(address) or b"\1" * size)
    assert other.read(0x1800, 4) == b"\1" * 4 and asked
    with pytest.raises(pugmark.Error):
        other.add_elf(small / "trace.bin")


def settings_of(small):
    """The registers of the trace unit, out of the snapshot."""
    import configparser
    import re

    ini = configparser.ConfigParser()
    ini.optionxform = str
    ini.read(small / "trace_0.ini")
    return [(re.sub(r"\(.*\)", "", name), int(value, 0)) for name, value in ini["regs"].items()]


@pytest.mark.parametrize("callback", [False, True])
def test_tree(small, callback):
    code = (small / "memory_0.bin").read_bytes()
    image = advanced.Image()
    if callback:
        image.add_reader(0x210200, 0x210200 + len(code), lambda address, size:
                         code[address - 0x210200:address - 0x210200 + size])
    else:
        image.add_bytes(0x210200, code)
    tree = advanced.Tree("coresight", image=image)
    cpu = [("core", "Cortex-A53")]
    assert tree.add_source("ETMV4I", settings_of(small) + cpu) == 0x10
    trace = (small / "trace.bin").read_bytes()
    batches = []
    for at in range(0, len(trace), 1600):
        batches += tree.data(trace[at:at + 1600])
    batches += tree.end()
    with pugmark.open(small) as capture:
        expected = [e.text for e in capture.elements()]
    assert [e.text for batch in batches for e in batch] == expected
    with pytest.raises(RuntimeError):
        tree.data(b"")
    tree.reset()
    assert tree.data(trace[:1600])


def test_tree_errors():
    with pytest.raises(pugmark.Error):
        advanced.Tree("nothing")
    tree = advanced.Tree()
    with pytest.raises(pugmark.Error):
        tree.add_source("NOTHING")


def test_tree_log(small, caplog):
    """What a tree reports goes to logging, and into its errors."""
    with pytest.raises(pugmark.InputError) as caught:
        advanced.Tree("encapsulation", settings=[("src_bits", 99)])
    assert "0 to 16 bits" in caught.value.lines[0] and not caplog.records
    tree = advanced.Tree("coresight")
    tree.add_source("ETMV4I", settings_of(small) + [("core", "Cortex-A53")])
    caplog.clear()
    trace = bytearray((small / "trace.bin").read_bytes())
    trace[3000:3400] = bytes(range(200, 250)) * 8
    try:
        tree.data(trace)
        tree.end()
    except pugmark.Error as error:
        assert error.lines
    assert any(record.name == "pugmark" for record in caplog.records)


def test_index(small, tmp_path):
    with pugmark.open(small) as capture:
        index = advanced.Index(capture)
        times = [e for e in capture.elements() if e.type == pugmark.TIMESTAMP]
        marks = list(index.find_all(advanced.MARK_TIMESTAMP))
    assert [mark.value for mark in marks] == [e.timestamp for e in times]
    assert index.find(advanced.MARK_TIMESTAMP, least=2**63) is None
    index.save(tmp_path / "x.pugindex")
    assert (tmp_path / "x.pugindex").stat().st_size > 0


def test_correlated(small):
    with pugmark.open(small) as capture:
        assert len(list(advanced.correlate(capture))) == 26361


def test_guess(small):
    assert advanced.guess((small / "trace.bin").read_bytes())[0].protocol == "ETMV4I"
    assert isinstance(advanced.guess(b""), list)
