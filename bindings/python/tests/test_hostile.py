# SPDX-License-Identifier: MIT
"""Bad input gives exceptions and warnings, never a crash."""

import os
import random
import shutil
import subprocess
import sys

import pytest

import pugmark
from conftest import OWN, SOURCE
from pugmark import advanced


def use(path, **options):
    """Everything that a capture can be asked, whatever it is."""
    with pugmark.open(path, confine=True, **options) as capture:
        str(capture), capture.info()
        for work in (lambda: list(capture.batches(merge=True)), lambda: list(capture.calls()),
                     lambda: list(capture.instructions(last=10)), lambda: list(capture.dwt()),
                     lambda: capture.profile(stacks=True).functions(),
                     lambda: capture.coverage().files(), lambda: capture.timeline().slices(),
                     lambda: capture.timeline().export("speedscope"), lambda: capture.itm(),
                     lambda: advanced.consume(capture, advanced.Consumer()),
                     lambda: list(advanced.correlate(capture)), lambda: capture.diagnosis(),
                     lambda: list(advanced.packets(capture)), lambda: advanced.Index(capture)):
            try:
                work()
            except pugmark.Error:
                pass


@pytest.mark.parametrize("folder", OWN[::3], ids=lambda path: path.name)
def test_damaged(folder, tmp_path):
    random.seed(folder.name)
    for n in range(4):
        copy = tmp_path / str(n)
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("path"))
        for file in copy.rglob("*"):
            if not file.is_file() or not (data := bytearray(file.read_bytes())):
                continue
            if file.suffix == ".ini" and n < 3:
                continue
            for _ in range(1 + len(data) // 200):
                data[random.randrange(len(data))] = random.randrange(256)
            file.write_bytes(data[:len(data) - random.randrange(len(data) // 2 + 1)] if n == 2
                             else data)
        try:
            use(copy)
        except pugmark.Error:
            pass


@pytest.mark.parametrize("protocol", ["ETMV4I", "ETE", "PTM", "ETMV3", "STM", "ITM"])
def test_noise(protocol, tmp_path):
    random.seed(protocol)
    (tmp_path / "noise").write_bytes(random.randbytes(20000))
    try:
        use(tmp_path / "noise", protocol=protocol)
    except pugmark.Error:
        pass


def test_shared_kits():
    folder = SOURCE / "../shared/hostile"
    if os.environ.get("PUG_PART") != "shared" or not folder.is_dir():
        pytest.skip("the kits are beside the repository")
    for path in (folder / "damaged-mini", folder / "forks.data"):
        try:
            use(path)
        except pugmark.Error:
            pass


def test_shared_bombs(tmp_path):
    """What drove much work or memory: it ends, in a second or so."""
    maker = SOURCE / "../shared/hostile/bombs.py"
    if os.environ.get("PUG_PART") != "shared" or not maker.exists():
        pytest.skip("the kits are beside the repository")
    subprocess.run([sys.executable, maker, tmp_path], check=True)
    with pytest.raises(pugmark.InputError):
        pugmark.read_profile(tmp_path / "itm.bin")
    try:
        profile = pugmark.read_profile(tmp_path / "suffixes.prof")
        for row in pugmark.Profile.formats():
            try:
                profile.export(row.name)
            except pugmark.Error:
                pass
    except pugmark.Error:
        pass
    for protocol in ("ITM", "ETMV4I"):
        try:
            use(tmp_path / "itm.bin", protocol=protocol, transport="plain")
        except pugmark.Error:
            pass
    for path in tmp_path.iterdir():
        try:
            use(path)
        except pugmark.Error:
            pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_callbacks_that_raise():
    image = advanced.Image()
    image.add_reader(0, 2**48, lambda address, size: 1 / 0)
    assert image.read(0x1000, 4) == b""
    image.add_reader(2**49, 2**50, lambda address, size: b"x" * (size + 100))
    assert image.read(2**49, 4) == b"xxxx"
    with pytest.raises(TypeError):
        image.add_reader(5, 4, None)
