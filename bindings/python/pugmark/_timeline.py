# SPDX-License-Identifier: MIT
"""Calls over time."""

from . import _core
from . import _rows

_KINDS = {_core.SLICE_CALL: "call", _core.SLICE_INSTANT: "instant", _core.SLICE_COUNTER: "counter",
          _core.SLICE_GAP: "gap"}
_CLOCKS = ("auto", "time", "cycles", "instructions")


def formats():
    """Formats of Timeline.export() and save(): a Table of name, summary, binary and folder."""
    return _rows.Table(["name", "summary", "binary", "folder"], _core.timeline_formats())


class Timeline:
    """Calls as slices over time, on a track for each thread or source, each processor, and what an
    ITM writes. Iterating gives single slices as decoding makes them, callees before their callers;
    :meth:`slices` has all of them in order; :meth:`save` writes a file for a viewer.

    >>> timeline = capture.timeline()
    >>> timeline.slices()[0].track
    'source 0x10'
    >>> timeline.save(FOLDER / "run.pftrace")
    >>> [format.name for format in timeline.formats()]
    ['perfetto', 'chrome', 'speedscope', 'ctf']
    """

    formats = staticmethod(formats)

    def __init__(self, capture, options):
        if options.get("clock") not in (None, *_CLOCKS):
            raise ValueError(f"clock: {', '.join(_CLOCKS)}")
        self._capture = capture
        self._options = options
        self._slices = self._counts = None
        self.title = str(capture.path)

    def __iter__(self):
        return self._capture._slices(dict(self._options))

    def slices(self, name=None, *, kind=None, track=None, time=None):
        """Slices by track and beginning: a Table of track, name, begin, end, depth, kind, value,
        detail, file, line, tid and estimated.

        Args:
            name, track: only with such a name; "*" stands for any characters, as in "event *".
            kind: only "call" (also handlers of interrupts), "instant" (exceptions, events, lines of
                text), "counter" or "gap".
            time: (begin, end): only those that begin in between.

        >>> first, second = capture.timeline().slices("event 5")[:2]
        >>> calls = capture.timeline().slices(kind="call", time=(first.begin, second.begin))
        >>> 0 < len(calls) < 3000
        True
        """
        from fnmatch import fnmatchcase

        if kind is not None and kind not in _KINDS.values():
            raise ValueError(f"kind: {', '.join(_KINDS.values())}")
        rows = self._all()
        if name is None and kind is None and track is None and time is None:
            return rows
        return _rows.Table(rows.columns, (
            row for row in rows
            if (name is None or (row.name is not None and fnmatchcase(row.name, name)))
            and (track is None or fnmatchcase(row.track, track))
            and (kind is None or row.kind == kind)
            and (time is None or time[0] <= row.begin < time[1])))

    def _all(self):
        """All slices, which are made once."""
        if self._slices is None:
            rows = sorted(self, key=lambda row: (row.number, row.begin, row.depth, -row.end))
            self._slices = _rows.Table(
                ["track", "name", "begin", "end", "depth", "kind", "value", "detail", "file",
                 "line", "tid", "estimated"],
                [(row.track, row.name, row.begin, row.end, row.depth, _KINDS[row.kind],
                  row.value if row.kind == _core.SLICE_COUNTER else None, row.detail, row.file,
                  row.line or None, None if row.tid < 0 else row.tid, row.estimated)
                 for row in rows])
        return self._slices

    def __repr__(self):
        return f"<pugmark.Timeline of {self.title!r}>"

    def _repr_html_(self):
        return self.slices()._repr_html_()

    def to_pandas(self):
        """The slices as a pandas.DataFrame."""
        return self.slices().to_pandas()

    def __arrow_c_stream__(self, requested_schema=None):
        """The slices as a stream of Arrow's C interface, in a PyCapsule."""
        return self.slices().__arrow_c_stream__(requested_schema)

    def _write(self, **places):
        data, self._counts = _core.timeline(self._capture._open(), {**self._options, **places})
        return data

    def counts(self):
        """What is in it: a dict of calls, those left_out, those with estimated times, handlers,
        gaps (untraced, unknown, lost), and the unit of times."""
        import os

        if self._counts is None:
            self._write(format="chrome", path=os.devnull)
        return dict(self._counts)

    @property
    def unit(self):
        """What its times count: "ns", "ticks", "cycles" or "instructions"."""
        return self.counts()["unit"]

    def export(self, format="perfetto"):
        """The timeline in a format, as bytes: "perfetto", "chrome" or "speedscope"."""
        if format == "ctf":
            raise ValueError("ctf is a folder: save() writes it")
        return self._write(format=format)

    def save(self, path, format="perfetto"):
        """Write it to a file, or with the format "ctf" to a folder that is not there yet."""
        import os

        path = os.fspath(path)
        if format == "ctf":
            self._save_folder(path)
        elif os.path.exists(path) and not os.path.isfile(path):
            self._write(format=format, path=path)  # a pipe or a device
        else:
            with _rows.beside(path) as name:
                self._write(format=format, path=name)

    def _save_folder(self, path):
        import os
        import shutil
        import tempfile

        if os.path.lexists(path):
            raise FileExistsError(f"{path}: it is there already")
        folder = tempfile.mkdtemp(dir=os.path.dirname(path) or ".")
        try:
            self._write(format="ctf", path=os.path.join(folder, "metadata"), folder=folder)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(folder, 0o777 & ~mask)
            os.rename(folder, path)
        except BaseException:
            shutil.rmtree(folder)
            raise

    def chrome(self):
        """The format "chrome", as a str."""
        return self.export("chrome").decode()
