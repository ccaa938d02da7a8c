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


def test_elements(path, command):
    expected = command("list", path).decode("utf-8", "replace").splitlines()
    expected = [line.split(None, 2) for line in expected if not line.startswith("#")]
    with open_or_skip(path) as capture:
        found = [[str(e.index), f"{e.source:02x}", e.text] for e in whole(capture.elements())]
    found = [[index, source, text.rstrip()] for index, source, text in found]
    expected = [[index, source, text.rstrip()] for index, source, text in expected]
    assert len(found) == len(expected)
    assert found == expected


def test_addresses(path, command):
    expected = command("pc", path).decode().split()
    with open_or_skip(path) as capture:
        found = [f"{i.address:x}" for i in whole(capture.instructions(text=False))]
    assert found == expected


def test_calls(path, command):
    text = command("calls", path).decode("utf-8", "replace")
    ends = [line for line in text.splitlines() if re.search(r"(;|\})(  /\*.*\*/)?$", line)]
    with open_or_skip(path) as capture:
        calls = whole(capture.calls())
    assert len(calls) == len(ends)
    counts = [int(re.match(r"\s+\S+(?:\s+\d+)*?\s+(\d+)\s+(?=[^\d\s]|0x)", line).group(1))
              for line in ends if re.match(r"\s+\S+(?:\s+\d+)*?\s+(\d+)\s+(?=[^\d\s]|0x)", line)]
    assert [call.instructions for call in calls][:len(counts)] == counts or len(counts) < len(ends)


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
    expected = [line for line in expected if not line.startswith("#")]
    assert len(packets) == len(expected)
    for packet, line in zip(packets, expected):
        assert packet.name in line
