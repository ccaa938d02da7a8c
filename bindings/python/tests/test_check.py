# SPDX-License-Identifier: MIT
"""Rules that captures have to keep, from Python and in tests."""

import json
import pathlib
import subprocess
import sys

import pytest

import pugmark
from conftest import SOURCE

CRASH = SOURCE / "examples/crash"
RULES = ["find takes < 1000 ticks", "call never runs", "is_name runs == 9 times",
         "depth of _start <= 3", "no loss", "itm port 0 matches \"x\" unless undecided"]


def test_same_as_the_command(command, tmp_path):
    """The same verdicts as `pugmark check`, with their places."""
    file = tmp_path / "rules"
    file.write_text("\n".join(RULES))
    said = json.loads(command("check", "--format", "json", file, CRASH, codes=(1,)))
    checked = pugmark.check(CRASH, file)
    assert [v.verdict for v in checked] == [v["verdict"] for v in said["verdicts"]]
    assert checked[1].place["offset"] == said["verdicts"][1]["place"]["offset"]
    assert checked[1].place["function"] == "call"
    assert [v.rule for v in checked] == RULES
    assert not checked and len(checked.violated) == 1 and not checked[5].holds
    assert "pugmark trace --around" in str(checked)
    for threads in (1, 2):
        assert [v.verdict for v in pugmark.check(CRASH, RULES, threads=threads)] == \
            [v.verdict for v in checked]


def test_forms():
    """A text, a list, a path; a capture, a path, several."""
    assert pugmark.check(str(CRASH), "no loss\nis_name runs")
    with pugmark.open(CRASH) as capture:
        assert pugmark.check(capture, ["is_name runs == 9 times"])
        assert pugmark.check([capture, CRASH], ["is_name runs == 18 times"])[0].count == 18
        assert not pugmark.check(capture, "is_name runs == 8 times")


def test_wrong_rules():
    """File, line and column are in the exception."""
    for rule, said in (("finnd never runs", "rules:1:1: .*did you mean 'find'"),
                       ("find taks 3", "rules:1:6: "), ("no exception but Nonesuch never", "rules:1:")):
        with pytest.raises(pugmark.InputError, match=said):
            pugmark.check(CRASH, rule)
    with pytest.raises(pugmark.FileError):
        pugmark.check("/nowhere", "no loss")


def test_plugin(tmp_path):
    """What the fixture has for rules fails with the place."""
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["pugmark.pytest_plugin"]\n')
    (tmp_path / "test_it.py").write_text(f"""
def test_good(trace):
    trace({str(CRASH)!r})
    trace.no_loss()
    trace.runs("is_name", 9)
    trace.takes("number", "< 1000 ticks", undecided=True)
    trace.within("find", "1000 ticks", after="read_line", undecided=True)
    trace.depth("_start", "<= 3")
    trace.not_in("find")
    trace.check("number follows find", undecided=True)

def test_one(trace):
    trace.never(trace({str(CRASH)!r}), "on_fault")

def test_bad(trace):
    trace({str(CRASH)!r})
    trace.never("call")

def test_none(trace):
    trace.never("call")
""")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert "3 failed, 1 passed" in done.stdout, done.stdout
    assert "violated: call never runs: it ran (call at" in done.stdout, done.stdout
    assert "no capture was opened" in done.stdout


def test_place_of_rules():
    """Rules of a file are told by its name."""
    assert pathlib.Path(pugmark.check(CRASH, "no loss")[0].file).name == "rules"
