# SPDX-License-Identifier: MIT
"""perf.data: what Python gives is what the command prints, with tasks and times."""

import os
import re

import pytest

import pugmark
from conftest import SOURCE
from test_same import whole, words_of

FOLDER = SOURCE / "../shared/perfdata/paw"
FILES = sorted(FOLDER.glob("*.data")) if os.environ.get("PUG_PART") == "shared" else []


@pytest.mark.skipif(not FILES, reason="recordings of perf are beside the repository")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
class TestPerf:
    def test_elements(self, file, command):
        lines = command("list", file, "--symfs", FOLDER / "root").decode().splitlines()
        expected = sorted(words_of(line.split(None, 2) for line in lines
                                   if not line.startswith("#")))
        with pugmark.open(file, symfs=FOLDER / "root") as capture:
            found = sorted(words_of((str(e.index), f"{e.source:02x}", e.text)
                                    for e in whole(capture.elements())))
        assert found == expected

    def test_calls(self, file, command):
        text = command("calls", "--summary", file, "--symfs", FOLDER / "root").decode()
        paths = re.findall(r"^  \S.*?\s((?:\s*\d+)+)\s+\S.*\(\)$", text, re.MULTILINE)
        paths = [[int(number) for number in numbers.split()] for numbers in paths]
        with pugmark.open(file, symfs=FOLDER / "root") as capture:
            calls = whole(capture.calls())
            tids = {task.tid for task in capture.tasks}
        assert len(calls) == sum(numbers[0] for numbers in paths)
        assert sum(call.instructions for call in calls) == sum(numbers[-1] for numbers in paths)
        assert {call.tid for call in calls} <= tids

    def test_profile(self, file, command):
        with pugmark.open(file, symfs=FOLDER / "root") as capture:
            profile = capture.profile(stacks=True)
            tids = [task.tid for task in capture.tasks]
            one = capture.profile(tid=tids[-1], stacks=True) if tids else None
        assert profile.export("folded") == command("profile", file, "--symfs", FOLDER / "root",
                                                   "--format", "folded")
        if one:
            rows = command("profile", file, "--symfs", FOLDER / "root", "--tid", tids[-1], "--json")
            assert one.export("table", json=True) == rows

    def test_origins(self, file):
        with pugmark.open(file, symfs=FOLDER / "root") as capture:
            tasks = len(capture.tasks)
            for batch in capture.batches(times=True):
                assert batch.task is None or batch.task < tasks
