# SPDX-License-Identifier: MIT
"""What Python gives is what the command prints, for every capture."""

import json
import re

import pytest

import pugmark
import pugmark.advanced


def whole(iterable):
    """All of it, also where decoding stops."""
    items = []
    try:
        for item in iterable:
            items.append(item)
    except pugmark.DecodeError:
        pass
    return items


def open_or_skip(path):
    try:
        return pugmark.open(path)
    except pugmark.Error as error:
        pytest.skip(f"the command does not open it, either: {error}")


def words_of(rows):
    """Rows as the command lists them; what DWT packets mean it says in other words."""
    return [[index, source, "ITM" if text.startswith("ITMTRACE") else text.rstrip()]
            for index, source, text in rows]


def sample(rows):
    """Of a long capture: all of the begin, and then one of 37."""
    return rows[:20000] + rows[20000::37]


def test_elements(path, command):
    lines = command("list", path).decode("utf-8", "replace").splitlines()
    lines = [line for line in lines if not line.startswith("#")]
    with open_or_skip(path) as capture:
        elements = whole(capture.elements())
    assert len(elements) == len(lines)
    found = words_of((str(e.index), f"{e.source:02x}", e.text) for e in sample(elements))
    assert found == words_of(line.split(None, 2) for line in sample(lines))


def test_addresses(path, command):
    numpy = pytest.importorskip("numpy")
    lines = [line.split(b"\t") for line in
             command("pc", path, codes=(0, 1, 3, 4)).splitlines()]
    with open_or_skip(path) as capture:
        arrays = [batch.numpy() for batch in whole(capture.instructions(text=False).batches())]
    array = numpy.concatenate(arrays) if arrays else numpy.empty(0, [("address", "u8")])
    expected = numpy.array([int(words[0], 16) for words in lines], "u8")
    assert numpy.array_equal(array["address"], expected)
    if any(len(words) > 1 for words in lines):
        assert array["source"].tolist() == [int(words[1], 0) for words in lines]


def test_calls(path, command):
    with open_or_skip(path) as capture:
        buffer = capture.buffers[0].name  # the command is about one buffer
    with pugmark.open(path, buffer=buffer) as capture:
        calls = whole(capture.calls())
    text = command("calls", "--summary", path, *(["--buffer", buffer] if buffer else []),
                   codes=(0, 1, 3, 4)).decode("utf-8", "replace")
    paths = re.findall(r"^  \S.*?\s((?:\s*\d+)+)\s+\S.*\(\)$", text, re.MULTILINE)
    paths = [[int(number) for number in numbers.split()] for numbers in paths]
    assert len(calls) == sum(numbers[0] for numbers in paths)
    assert sum(call.instructions for call in calls) == sum(numbers[-1] for numbers in paths)
    if any(len(numbers) == 4 for numbers in paths):
        assert sum(call.took for call in calls if call.unit) == sum(n[1] for n in paths)


def test_profile(path, command):
    with open_or_skip(path) as capture:
        try:
            profile = capture.profile(stacks=True)
        except pugmark.DecodeError as error:
            profile = error.partial
        rows = command("profile", path, "--stacks", "--json", "--rows", 2**31 - 1)
        assert profile.export("table", json=True, rows=2**31 - 1) == rows
        functions = [json.loads(line) for line in rows.splitlines()]
        functions = [row["function"] for row in functions if "function" in row]
        assert profile.functions()["name"] == functions


def test_packets(path, command):
    with open_or_skip(path) as capture:
        packets = whole(pugmark.advanced.packets(capture))
    expected = command("list", "--packets", path).decode("utf-8", "replace").splitlines()
    expected = [line for line in expected if not line.startswith("#") and "ENCAP_" not in line]
    assert len(packets) == len(expected)
    for packet, line in zip(packets, expected):
        assert packet.name in line


@pytest.mark.parametrize("name", ["perfetto", "chrome", "speedscope", "ctf"])
def test_timeline(path, name, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # outputs name their input as it was given
    if name == "ctf":
        command("timeline", "--format", "ctf", "--output", "a", path, codes=(0, 1, 3, 4))
    else:
        (tmp_path / "a").write_bytes(command("timeline", "--format", name, path,
                                             codes=(0, 1, 3, 4)))
    with open_or_skip(path) as capture:
        try:
            capture.timeline().save("b", name)
        except pugmark.DecodeError:
            return
    if name == "ctf":
        left, right = [{file.name: file.read_bytes() for file in (tmp_path / side).iterdir()}
                       for side in "ab"]
        assert left and left == right
    else:
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
