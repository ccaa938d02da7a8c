# SPDX-License-Identifier: MIT
"""What the tests share: where the command and the captures are."""

import os
import pathlib
import subprocess

import pytest

pytest_plugins = ["pugmark.pytest_plugin"]

SOURCE = pathlib.Path(__file__).resolve().parents[3]
BIN = pathlib.Path(os.environ.get("PUGMARK_BIN", SOURCE / "build/release/bin"))
OWN = sorted(path.parent for path in (SOURCE / "tests/captures").glob("*/snapshot.ini"))
SHARED = sorted(path.parent for path in (SOURCE / "../shared/captures").glob("*/snapshot.ini"))
CAPTURES = {"own": OWN, "shared": SHARED}.get(os.environ.get("PUG_PART"), OWN)


def pytest_generate_tests(metafunc):
    if "path" in metafunc.fixturenames:
        metafunc.parametrize("path", CAPTURES, ids=lambda path: path.name)


@pytest.fixture
def small():
    """A capture with exceptions, cycles and timestamps."""
    return SOURCE / "tests/captures/etmv4-a64-cycles"


@pytest.fixture
def command():
    """Runs the command; its output as bytes."""
    def run(*words, codes=(0, 1, 4)):
        done = subprocess.run([BIN / "pugmark", *map(str, words), "--quiet"], capture_output=True)
        assert done.returncode in codes, done.stderr.decode()
        return done.stdout
    return run
