# SPDX-License-Identifier: MIT
"""A plugin for pytest: traces as fixtures, and failures that show what ran.

    def test_it(trace):
        capture = trace("captures/boot")            # opened, and closed after the test
        assert "main" in trace.functions(capture)

    def test_run(trace):
        capture = trace.record(["./program", "argument"])
        assert not trace.exceptions(capture)

Where an assertion fails that compares a Functions or Exceptions, the failure shows the last calls
that were seen. ``trace.record`` needs the command ``pugmark`` and QEMU; tests are skipped where
these are not there.
"""

import pytest


class Functions(frozenset):
    """Names of functions that ran, which remembers the end of the trace."""
    tail = ()


class Exceptions(list):
    """Names of exceptions that were taken, in their order."""
    tail = ()


class Traces:
    """What the fixture ``trace`` is: opens and records captures, and asks them."""

    def __init__(self, folder, command):
        self._folder = folder
        self._command = command
        self._open = []

    def __call__(self, path, **options):
        """Open a capture, which is closed after the test."""
        import pugmark

        capture = pugmark.open(path, **options)
        self._open.append(capture)
        return capture

    def record(self, program, *, options=(), **keywords):
        """Run a program under QEMU, and open its trace. ``options`` are those of ``pugmark
        record``."""
        import shutil
        import subprocess

        command = shutil.which(self._command)
        if command is None:
            pytest.skip(f"recording needs the command {self._command}")
        path = self._folder / f"trace{len(self._open)}"
        done = subprocess.run([command, "record", "--output", path, *options, "--", *program],
                              capture_output=True, text=True)
        if not path.exists():
            if "qemu" in done.stderr.lower():
                pytest.skip(f"recording: {done.stderr.strip()}")
            pytest.fail(f"recording {program[0]}: {done.stderr.strip()}", pytrace=False)
        return self(path, **keywords)

    def functions(self, capture, **selection):
        """The names of all functions that ran."""
        import collections

        tail = collections.deque(maxlen=10)
        names = set()
        for call in capture.calls(**selection):
            tail.append(str(call))
            if call.function:
                names.add(call.function)
        result = Functions(names)
        result.tail = tuple(tail)
        return result

    def exceptions(self, capture, **selection):
        """The names of exceptions that were taken, in the order in which they were left."""
        from pugmark import EXCEPTION_ENTRY

        calls = [call for call in capture.calls(**selection) if call.kind == EXCEPTION_ENTRY]
        result = Exceptions(call.function for call in calls)
        result.tail = tuple(str(call) for call in calls[-10:])
        return result

    def close(self):
        """Close what was opened."""
        for capture in self._open:
            capture.close()


def pytest_addoption(parser):
    parser.addoption("--pugmark", default="pugmark", help="the command pugmark, for trace.record")


@pytest.fixture
def trace(tmp_path, request):
    """Traces of this test: see pugmark.pytest_plugin."""
    traces = Traces(tmp_path, request.config.getoption("--pugmark"))
    yield traces
    traces.close()


def _seen(value):
    lines = [f"  {line}" for line in value.tail]
    return ["the last calls in the trace:", *lines] if lines else ["the trace has no calls"]


def pytest_assertrepr_compare(config, op, left, right):
    """Say what ran, where an assertion is about it."""
    if isinstance(right, Functions) and op in ("in", "not in"):
        ran = "did not run" if op == "in" else "ran"
        near = sorted(name for name in right if str(left).lower() in name.lower())[:5]
        hint = [f"these did: {', '.join(near)}"] if near and op == "in" else []
        return [f"{left} {ran}; {len(right)} functions did", *hint, *_seen(right)]
    for value in (left, right):
        if isinstance(value, Exceptions):
            return [f"exceptions that were taken: {', '.join(value) or 'none'}", *_seen(value)]
    return None
