# SPDX-License-Identifier: MIT
"""Profiles and coverage."""

from . import _core
from . import _rows

ALL_ROWS = 2**31 - 1


def read_profile(path):
    """A profile that ``Profile.save()`` or the command saved."""
    with open(path, "rb") as file:
        return Profile(_core.profile_read(file.read()), str(path))


def _place(path, data):
    """Write a file whole or not at all."""
    import os

    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:  # a pipe or a device
            file.write(data)
        return
    with _rows.beside(path) as name:
        with open(name, "wb") as file:
            file.write(data)


class Profile:
    """How often what ran, by function, line and place. Profiles of runs can be added up.

    >>> profile = capture.profile(stacks=True)
    >>> sorted(profile.functions().columns)[:3]
    ['calls', 'cycles', 'fraction']
    """

    def __init__(self, handle, title=""):
        self._handle = handle
        self.title = title

    def __repr__(self):
        return f"<pugmark.Profile of {self.title!r}: {self.instructions} instructions>"

    def _repr_html_(self):
        """A flame graph, where there are stacks, else the table of functions."""
        folded = self.folded()
        return flame(folded) if folded else self.functions()[:20]._repr_html_()

    @staticmethod
    def formats():
        """Formats of export() and save(): a Table of name and summary."""
        return _rows.Table(["name", "summary", "needs_stacks", "one_object"],
                           [(name, summary, bool(stacks), bool(one))
                            for name, summary, stacks, one in _core.formats(False)])

    def export(self, format="table", *, dso=None, weight="instructions", rows=0, json=False,
               mangled=False, like_simpleperf=False, without_plt=False, title=None,
               source_dir=None):
        """The profile in a format of other tools, as bytes.

        Args:
            format: a name of formats(), such as "autofdo", "folded" or "pprof".
            dso: only code of these objects, by the end of their path, or by build id.
            weight: of folded stacks: "instructions", "cycles" or "time".
            rows, json: of tables.
        """
        options = {"dso": [dso] if isinstance(dso, str) else dso, "weight": weight, "rows": rows,
                   "json": json, "mangled": mangled, "like_simpleperf": like_simpleperf,
                   "without_plt": without_plt, "title": title, "source_dir": source_dir}
        if weight not in ("instructions", "cycles", "time"):
            raise ValueError("weight: instructions, cycles or time")
        return self._handle.export(format, False, options)

    def save(self, path, format=None, **options):
        """Write it to a file; without a format the profile itself, to be read or added later."""
        _place(path, self._handle.write() if format is None else self.export(format, **options))

    def __iadd__(self, other):
        """Add another profile to this one."""
        self._handle.merge(other._handle)
        return self

    def diff(self, other, *, dso=None, rows=0, json=False, mangled=False):
        """What ran more and what less in ``other``, function by function and line by line, as text,
        or as lines of JSON. Functions are the same by name, so that builds can be compared.

        >>> capture.profile().diff(capture.profile()).splitlines()[0]
        '100002 instructions before, 100002 after'
        """
        options = {"dso": [dso] if isinstance(dso, str) else dso, "rows": rows, "json": json,
                   "mangled": mangled}
        return self._handle.diff(other._handle, options).decode("utf-8", "replace")

    def _tables(self, **options):
        import json

        lines = self.export("table", rows=ALL_ROWS, json=True, **options).decode("utf-8", "replace")
        return [json.loads(line) for line in lines.splitlines()]

    @property
    def instructions(self):
        """How many instructions ran."""
        return sum(row.count * row.instructions for row in self.ranges())

    @property
    def notes(self):
        """What is not in the counts, or makes them doubtful: a dict of counts."""
        return self._handle.notes()

    def functions(self, dso=None):
        """Functions, the most instructions first: a Table of name, object, self, fraction and,
        of profiles with stacks, inclusive, calls, cycles and time."""
        rows = [row for row in self._tables(dso=dso) if "function" in row]
        stacks = any("with callees" in row for row in rows)
        columns = ["name", "object", "self", "fraction"]
        if stacks:
            columns += ["inclusive", "calls", "cycles", "time"]
        table = []
        for row in rows:
            time = next((value for name, value in row.items() if name.startswith("time")), None)
            line = [row["function"], row.get("object"), row.get("instructions"), row.get("self")]
            if stacks:
                line += [row.get("with callees"), row.get("calls"), row.get("cycles"), time]
            table.append(line)
        return _rows.Table(columns, table)

    def branches(self, dso=None):
        """Conditional branches: a Table of branch, line, object, count, taken and bias."""
        rows = [row for row in self._tables(dso=dso) if "branch" in row]
        return _rows.Table(["branch", "line", "object", "count", "taken", "bias"],
                           [(row["branch"], row.get("line"), row.get("object"), row.get("count"),
                             row.get("times taken"), row.get("bias")) for row in rows])

    def lines(self, dso=None):
        """Source lines: a Table of line, object and instructions."""
        rows = [row for row in self._tables(dso=dso)
                if row.get("line") and "branch" not in row and "function" not in row]
        return _rows.Table(["line", "object", "instructions"],
                           [(row["line"], row.get("object"), row.get("instructions"))
                            for row in rows])

    def ranges(self):
        """Ranges that ran, by object and address: a Batch."""
        return self._handle.rows("ranges")

    def jumps(self):
        """Taken branches with their targets: a Batch."""
        return self._handle.rows("branches")

    def objects(self):
        """Paths of the objects, by the numbers that ranges have."""
        return self._handle.paths()

    def folded(self, weight="instructions"):
        """Stacks as lines "a;b;c 12" for flame graphs: a str, empty where there are no stacks."""
        from ._errors import Error

        try:
            return self.export("folded", weight=weight).decode("utf-8", "replace")
        except Error:
            return ""


def flame(folded):
    """A flame graph of folded stacks, as an SVG without scripts."""
    from html import escape

    root = {"name": "all", "value": 0, "children": {}}
    for line in folded.splitlines():
        stack, _, count = line.rpartition(" ")
        node, count = root, int(count)
        root["value"] += count
        for name in stack.split(";")[:60]:
            node = node["children"].setdefault(name, {"name": name, "value": 0, "children": {}})
            node["value"] += count
    boxes, deepest, width = [], 0, 960
    todo = [(root, 0, 0.0)]
    while todo:
        node, depth, x = todo.pop()
        wide = width * node["value"] / (root["value"] or 1)
        if wide < 1 or len(boxes) > 2000:
            continue
        deepest = max(deepest, depth)
        name = escape(node["name"])
        text = name if len(node["name"]) * 6.5 < wide else ""
        hue = 20 + sum(map(ord, node["name"])) % 40
        boxes.append(f'<g><title>{name}: {node["value"]}</title><rect x="{x:.1f}" '
                     f'y="{depth * 17}" width="{wide:.1f}" height="16" fill="hsl({hue},80%,70%)"/>'
                     f'<text x="{x + 2:.1f}" y="{depth * 17 + 12}">{text}</text></g>')
        at = x
        for child in node["children"].values():
            todo.append((child, depth + 1, at))
            at += width * child["value"] / (root["value"] or 1)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{deepest * 17 + 18}" '
            f'font-family="sans-serif" font-size="11">{"".join(boxes)}</svg>')


class Coverage:
    """Which lines, functions, instructions and branch outcomes were seen."""

    def __init__(self, profile):
        self._profile = profile

    def __repr__(self):
        return f"<pugmark.Coverage of {self._profile.title!r}>"

    def __iadd__(self, other):
        """Add what another run saw."""
        self._profile += other._profile
        return self

    def export(self, format, *, dso=None, source_dir=None):
        """Coverage in a format, as bytes: "text", "lcov", "json" or "html"."""
        options = {"dso": [dso] if isinstance(dso, str) else dso, "source_dir": source_dir}
        return self._profile._handle.export(format, True, options)

    def save(self, path, format="lcov", **options):
        """Write it to a file."""
        _place(path, self.export(format, **options))

    def lcov(self, path=None, **options):
        """For lcov and genhtml: to a file, or without a path as a str."""
        if path is None:
            return self.export("lcov", **options).decode("utf-8", "replace")
        return self.save(path, "lcov", **options)

    def html(self, path, **options):
        """A page to look at."""
        self.save(path, "html", **options)

    def lines(self, file=None):
        """Lines that have code, and how often each ran: a Table of file, line and count.

        Args:
            file: only those of this file, by the end of its path.
        """
        rows, path = [], None
        for line in self.lcov().splitlines():
            if line.startswith("SF:"):
                path = line[3:]
            elif line.startswith("DA:") and (file is None or path == file or
                                             path.endswith("/" + str(file))):
                number, count = line[3:].split(",")[:2]
                rows.append((path, int(number), int(count)))
        return _rows.Table(["file", "line", "count"], rows)

    def files(self):
        """Source files: a Table of file, lines and how many of them ran."""
        seen = {}
        for path, _, count in self.lines():
            entry = seen.setdefault(path, [0, 0])
            entry[0] += 1
            entry[1] += count > 0
        return _rows.Table(["file", "lines", "hit"],
                           [(path, lines, hit) for path, (lines, hit) in seen.items()])

    def _repr_html_(self):
        return self.files()._repr_html_()
