# SPDX-License-Identifier: MIT
"""Calls over time."""

from . import _core
from . import _rows
from ._profile import _place


class Timeline:
    """Calls as slices over time, by thread or source. It is decoded once, when it is first asked.

    For the formats "perfetto", "speedscope" and "ctf" there is the command ``pugmark timeline``.
    """

    def __init__(self, calls, title, unit):
        self._calls = calls
        self._slices = None
        self.title = title
        self.unit = unit

    def slices(self):
        """Slices in the order of their beginnings: a Table of track, name, begin, end, depth and
        kind."""
        if self._slices is None:
            rows = [(call.tid if call.tid >= 0 else call.task,
                     call.function or f"0x{call.start:x}", call.begin, call.end, call.depth,
                     call.kind) for call in self._calls]
            rows.sort(key=lambda row: (row[0], row[2], row[4]))
            self._slices = _rows.Table(["track", "name", "begin", "end", "depth", "kind"], rows)
        return self._slices

    def __len__(self):
        return len(self.slices())

    def __iter__(self):
        return iter(self.slices())

    def __repr__(self):
        return f"<pugmark.Timeline of {self.title!r}>"

    def _repr_html_(self):
        return self.slices()._repr_html_()

    def to_pandas(self):
        """The slices as a pandas.DataFrame."""
        return self.slices().to_pandas()

    def chrome(self):
        """The slices for chrome://tracing and Perfetto, as JSON text. Times are in microseconds
        where the trace has nanoseconds, else in its own unit."""
        import json

        scale = 1000 if self.unit == "ns" else 1
        events = [{"name": row.name, "ph": "X", "pid": 1, "tid": row.track,
                   "ts": row.begin / scale, "dur": (row.end - row.begin) / scale,
                   "cat": "exception" if row.kind == _core.EXCEPTION_ENTRY else "call"}
                  for row in self.slices()]
        return json.dumps({"traceEvents": events, "otherData": {"title": self.title}})

    def save(self, path, format="chrome"):
        """Write it to a file, in the format "chrome"."""
        if format != "chrome":
            raise ValueError("format: chrome; `pugmark timeline` writes the others")
        _place(path, self.chrome().encode())
