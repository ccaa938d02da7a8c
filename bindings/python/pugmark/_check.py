# SPDX-License-Identifier: MIT
"""Rules that a trace has to keep."""

import os

from . import _core
from ._capture import Capture, open as open_capture
from ._errors import InputError

_FORMAT = -14  # the library's numbers of what is said by lines of its own
_NOT_FOUND = -35


class Verdict:
    """What became of one rule.

    Attributes:
        rule, name: its text, and the name that it was given, or None.
        file, line: where it stands.
        verdict: "holds", "violated" or "undecided".
        why: one sentence, "" where it holds.
        excused: it is undecided, and says "unless undecided".
        beforehand: it was undecided before anything was decoded.
        place: where the first violation is: a dict of capture, offset, source, time, unit, thread,
            function, file, line; or None.
        violations, unknown: how often it was violated, or left open.
        count, unit, shortest, longest, total, exact: what was measured.
        value: what was compared with the limit, where there is one value.
    """

    __slots__ = ("rule", "name", "file", "line", "verdict", "why", "excused", "beforehand",
                 "place", "violations", "unknown", "count", "unit", "shortest", "longest", "total",
                 "value", "exact")

    def __init__(self, fields):
        for name in self.__slots__:
            setattr(self, name, fields[name])

    @property
    def holds(self):
        """Does the rule hold?"""
        return self.verdict == "holds"

    def __str__(self):
        said = f"{self.verdict}: {self.rule}"
        if self.holds:
            return said
        said += f": {self.why}"
        place = self.place
        if place:
            where = []
            if place["function"]:
                at = f" at {place['file']}:{place['line']}" if place["file"] else ""
                where.append(f"{place['function']}{at}")
            if place["time"] is not None:
                where.append(f"at {place['time']} {place['unit']}")
            if place["thread"]:
                where.append(f"in {place['thread']}")
            where.append(f"trace offset {place['offset']} of source 0x{place['source']:02x}")
            said += f" ({', '.join(where)}; look: pugmark trace --around {place['offset']} "
            said += f"{place['capture']!r})"
        return said

    def __repr__(self):
        return f"<pugmark.Verdict {self}>"


class Checked(tuple):
    """The verdicts of all rules, in their order. True if all hold."""

    def __bool__(self):
        return all(verdict.holds or verdict.excused for verdict in self)

    @property
    def violated(self):
        """Those that are violated."""
        return [verdict for verdict in self if verdict.verdict == "violated"]

    @property
    def undecided(self):
        """Those that the trace does not decide, but for those that are excused."""
        return [verdict for verdict in self
                if verdict.verdict == "undecided" and not verdict.excused]

    def __str__(self):
        bad = [str(verdict) for verdict in self if not (verdict.holds or verdict.excused)]
        return "\n".join(bad) if bad else f"{len(self)} rules hold"

    def __repr__(self):
        return (f"<pugmark.Checked: {len(self)} rules, {len(self.violated)} violated, "
                f"{len(self.undecided)} undecided>")


def _texts(rules):
    if isinstance(rules, os.PathLike):
        with open(rules, encoding="utf-8") as file:
            return [(os.fspath(rules), file.read())]
    if isinstance(rules, str):
        return [("rules", rules)]
    return [("rules", "\n".join(rules))]


def check(captures, rules, *, strict=False, threads=0, **selection):
    """Check whether captures keep rules; docs/book/answers/check.md has what rules can say.

    Args:
        captures: a Capture, a path, or a list of these. What several of them show adds up.
        rules: a text of rules, a line each; a list of rules; or the path of a file (a Path).
        strict: calls that a trace has a part of alone leave a rule undecided.
        selection: pid, tid, comm, cpu, source, as of Capture.calls().

    Raises InputError where rules are wrong, or name functions that the programs do not have, with
    file, line and column; and where nothing was decoded.

    >>> result = check(capture, "no loss")
    >>> bool(result)
    True
    """
    if isinstance(captures, (str, os.PathLike, Capture)):
        captures = [captures]
    opened, given = [], []
    try:
        for capture in captures:
            if not isinstance(capture, Capture):
                capture = open_capture(capture)
                opened.append(capture)
            given.append(capture._handle)
        options = {name: [value] if isinstance(value, (str, int)) else value
                   for name, value in selection.items()}
        options.update(strict=strict, threads=threads)
        status, saw, errors, verdicts = _core.check(given, _texts(rules), options)
    finally:
        for capture in opened:
            capture.close()
    if errors:
        error = InputError("\n".join(errors))
        error.status = status
        error.lines = tuple(errors)
        raise error
    if status:
        _core.raise_status(status, "checking")
    if not saw:
        raise InputError("nothing was decoded, so no rule was checked")
    return Checked(Verdict(fields) for fields in verdicts)
