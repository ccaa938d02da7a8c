# SPDX-License-Identifier: MIT
"""The programs of README.md run, say what they are to say, and are short."""

import re
import subprocess
import sys

import pytest

from conftest import SOURCE

TEXT = (SOURCE / "bindings/python/README.md").read_text()
ANSWERS = TEXT[TEXT.index("## Questions and answers"):TEXT.index("## Rules")]
PROGRAMS = re.findall(r"```python\n(.*?)```", ANSWERS, re.DOTALL)
SAID = [r"is_name \d+", r"\w+ \d+ \d+ ticks", r" +[0-9.]+ #+", r"25 \d+", r"0x[0-9a-f]+ .* look\+|0x[0-9a-f]+ "]


@pytest.mark.parametrize("n", range(5))
def test_program(n):
    assert len(PROGRAMS) == 5 and len(PROGRAMS[n].strip().splitlines()) <= 10
    done = subprocess.run([sys.executable, "-c", PROGRAMS[n]], cwd=SOURCE, capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    if n == 3 and not done.stdout:
        pytest.skip("built without DWARF")
    assert re.search(SAID[n], done.stdout), done.stdout


def test_two_events():
    """What the second program prints began between the events."""
    out = subprocess.run([sys.executable, "-c", PROGRAMS[1].replace("print(", "print(first.begin, second.begin, ")],
                         cwd=SOURCE, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    assert rows and all(int(row[0]) <= int(row[3]) < int(row[1]) for row in rows)
