# SPDX-License-Identifier: MIT
"""Packets in words become the bytes that `pugmark encode` makes, and decode again."""

import subprocess

import pytest

import pugmark
from conftest import BIN
from pugmark import advanced

WRAPPED = ["packet 1 0 1f", "idle 2 flow=3", "alignment flow=1", "", "# a comment",
           "packet 0xffff 200 deadbeef flow=2 time=0x1234", "packet 1 0 73 time=7"]
SETTINGS = {"src_bits": 16, "timestamp_bytes": 2, "type_bits_65535": 8}


def of_command(lines, *options):
    return subprocess.run([BIN / "pugmark", "encode", *options, "-"], check=True,
                          input="\n".join(lines).encode(), capture_output=True).stdout


def test_encapsulation(tmp_path):
    data = advanced.encode(WRAPPED, set=SETTINGS)
    options = [word for item in SETTINGS.items() for word in ("--set", "%s=%s" % item)]
    assert data == of_command(WRAPPED, *options) and len(data) > 20
    assert data == advanced.encode("\n".join(WRAPPED), set=SETTINGS)
    (tmp_path / "trace").write_bytes(data)
    with pugmark.open(tmp_path / "trace", protocol="etrace", set=SETTINGS) as capture:
        found = [packet.source for packet in advanced.packets(capture)]
    assert 1 in found


def test_datagrams():
    lines = ["stm 1 32 5 2 7", "ctm 2 32 9 0x100 0x200 0", "overflow 1 3"]
    assert advanced.encode(lines, format="osd") == of_command(lines, "--format", "osd")


@pytest.mark.parametrize("lines, options", [
    (["packet 1"], {}), (["packet 1 0 xx"], {}), (["stm 1"], {"format": "osd"}), (["a\0b"], {}),
    ([], {"format": "x"}), ([], {"set": {"x": 1}}), ([], {"set": {"src_bits": 99}}),
    ([], {"set": {f"type_bits_{n}": 1 for n in range(99)}}), (["x " * 99], {}), ([7], {})])
def test_wrong(lines, options):
    with pytest.raises((ValueError, TypeError)):
        advanced.encode(lines, **options)
