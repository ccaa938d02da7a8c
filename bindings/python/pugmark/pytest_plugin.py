# SPDX-License-Identifier: MIT
"""A plugin for pytest: traces as fixtures, and failures that show what ran.

    def test_it(trace):
        capture = trace("captures/boot")            # opened, and closed after the test
        assert "main" in trace.functions(capture)

    def test_run(trace):
        capture = trace.record(["./program", "argument"])
        assert not trace.exceptions(capture)

    def test_rules(trace):
        trace("captures/boot")
        trace.never("panic")
        trace.within("adc_read", "100us", after="ADC_IRQHandler")
        trace.takes("control_loop", "< 1ms")
        trace.check("unlock follows lock", "no loss")

Rules are those of docs/book/answers/check.md. They are about all captures that were opened, or about one that
stands in front, as in ``trace.never(capture, "panic")``; what is undecided fails, too, unless
``undecided=True`` is given.

Where an assertion fails that compares a Functions or Exceptions, the failure shows the last calls
that were seen. ``trace.record`` needs the command ``pugmark`` and QEMU; tests are skipped where
these are not there.
"""

import functools

import pytest


class Functions(frozenset):
    """Names of functions that ran, which remembers the end of the trace."""
    tail = ()


class Exceptions(list):
    """Names of exceptions that were taken, in their order."""
    tail = ()


def _name(function):
    """A name as rules have it: quoted where it has other characters than a C identifier's."""
    import re

    if re.fullmatch(r"[A-Za-z_*?][\w.$*?-]*( in [\w./*?-]+)?|exception [\w]+|0x[0-9a-fA-F]+", function):
        return function
    return '"' + function.replace("\\", "\\\\").replace('"', '\\"') + '"'


_MACHINES = {40: "arm", 183: "aarch64", 243: "riscv"}  # of ELF files, as QEMU calls them


def _machine(program):
    """What a program runs on: "aarch64", "riscv64" ..., or None."""
    with open(program, "rb") as file:
        head = file.read(20)
    if head[:4] != b"\x7fELF" or len(head) < 20:
        return None
    name = _MACHINES.get(head[18] | head[19] << 8)
    return f"riscv{32 * head[4]}" if name == "riscv" else name


def _has_qemu(program):
    import shutil

    machine = _machine(program)
    return machine is None or any(map(shutil.which, (f"qemu-{machine}", f"qemu-{machine}-static")))


def _protocol(program):
    return "etrace" if (_machine(program) or "").startswith("riscv") else "etmv4"


def _about(method):
    """Of a method about all captures: a capture in front makes it about that one."""
    @functools.wraps(method)
    def about(self, *words, **options):
        if words and not isinstance(words[0], str):
            options.setdefault("captures", [words[0]])
            words = words[1:]
        return method(self, *words, **options)
    return about


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

    def record(self, program, *, protocol=None, options=(), **keywords):
        """Run a program under QEMU, and open its trace.

        Args:
            program: a list of the program, an ELF file, and its arguments; or the program alone.
            protocol: "etmv4", "ete", "ptm", "etrace" ...; None: "etrace" for RISC-V, else "etmv4".
            options: further options of ``pugmark record``, such as ["--limit", "100000"].
            keywords: of pugmark.open().
        """
        import os
        import shutil
        import subprocess

        command = shutil.which(self._command)
        if command is None:
            pytest.skip(f"recording needs the command {self._command}")
        words = [program] if isinstance(program, (str, os.PathLike)) else list(program)
        if not _has_qemu(words[0]):
            pytest.skip("recording needs QEMU's user mode for this program")
        path = self._folder / f"trace{len(self._open)}"
        done = subprocess.run([command, "record", "--protocol", protocol or _protocol(words[0]),
                               "--out", path, *options, "--", *words], capture_output=True, text=True)
        if not (path / "snapshot.ini").exists():
            pytest.fail(f"recording {words[0]}: {done.stderr.strip()}", pytrace=False)
        return self(path, **keywords)

    def functions(self, capture, **selection):
        """The names of all functions that ran, also of those that an exception entered."""
        import collections

        from pugmark import EXCEPTION_ENTRY

        tail = collections.deque(maxlen=10)
        names = set()
        for call in capture.calls(**selection):
            tail.append(str(call))
            name = call.handler if call.kind == EXCEPTION_ENTRY else call.function
            if name:
                names.add(name)
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

    # ---- rules ----

    @_about
    def check(self, *rules, captures=None, undecided=False, **options):
        """Fail unless the captures keep these rules; returns what became of them."""
        import pugmark

        captures = self._open if captures is None else captures
        if not captures:
            pytest.fail("no capture was opened that rules could be about", pytrace=False)
        checked = pugmark.check(captures, list(rules), **options)
        bad = checked.violated + ([] if undecided else checked.undecided)
        if bad:
            pytest.fail("\n".join(str(verdict) for verdict in bad), pytrace=False)
        return checked

    @_about
    def never(self, function, **options):
        """``function`` never runs."""
        return self.check(f"{_name(function)} never runs", **options)

    @_about
    def runs(self, function, times=None, *, every=None, **options):
        """``function`` runs: so many times ("== 3", or a number), or every so often."""
        if every is not None:
            return self.check(f"{_name(function)} runs every {every}", **options)
        if isinstance(times, int):
            times = f"== {times}"
        return self.check(f"{_name(function)} runs" + (f" {times} times" if times else ""),
                          **options)

    @_about
    def takes(self, function, limit, **options):
        """Calls of ``function`` take: "< 20us", "< 1ms own p99" …"""
        return self.check(f"{_name(function)} takes {limit}", **options)

    @_about
    def within(self, function, time, *, after=None, before=None, **options):
        """``function`` is entered within a time after, or before, another one."""
        if (after is None) == (before is None):
            raise TypeError("either after or before")
        order, other = ("after", after) if before is None else ("before", before)
        return self.check(f"{_name(function)} within {time} {order} {_name(other)}", **options)

    @_about
    def follows(self, function, other, **options):
        """``function`` follows each return of ``other``."""
        return self.check(f"{_name(function)} follows {_name(other)}", **options)

    @_about
    def not_in(self, function, other="interrupt", **options):
        """``function`` is never entered in an interrupt, or in another function."""
        return self.check(f"{_name(function)} not in {other}", **options)

    @_about
    def depth(self, function, limit, **options):
        """Calls open above ``function``: "<= 12"."""
        return self.check(f"depth of {_name(function)} {limit}", **options)

    @_about
    def no_loss(self, **options):
        """No trace was lost."""
        return self.check("no loss", **options)

    @_about
    def covered(self, files, percent, *, what="lines", **options):
        """So many percent of lines ("functions", "branch outcomes") of files were covered."""
        return self.check(f"{what} of {files} covered >= {percent}%", **options)

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
