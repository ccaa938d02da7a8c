# SPDX-License-Identifier: MIT
"""What is wrong with a capture, as the command says it."""

import shutil
import subprocess

import pugmark
from conftest import BIN, SOURCE

CRASH = SOURCE / "examples/crash"


def test_right():
    """A capture with its own program has nothing wrong."""
    with pugmark.open(CRASH) as capture:
        found = capture.diagnosis()
    assert found.ok
    assert {row.about for row in found.findings} <= {"lost", "checked", "note"}
    assert any(row.code == "agrees" and row.source == 0x10 for row in found.findings)


def test_wrong_as_the_command(tmp_path):
    """Another program: the sentences are those of standard error."""
    other = tmp_path / "other"
    shutil.copytree(CRASH, other)
    (other / "crash").unlink()
    shutil.copy(CRASH / "crash.mended", other / "crash")
    with pugmark.open(other) as capture:
        found = capture.diagnosis()
    assert not found.ok
    row = next(row for row in found.findings if row.code == "program")
    assert row.about == "wrong" and row.count > 0 and row.total >= row.count
    assert row.text in found.problems
    said = subprocess.run([BIN / "pugmark", "list", other], capture_output=True, text=True,
                          check=False).stderr
    assert all(sentence in said for sentence in found.problems)
