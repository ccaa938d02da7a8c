# SPDX-License-Identifier: MIT
"""Captures: what was traced, and the ways to look at it."""

import atexit
import weakref
from collections import namedtuple

from . import _core
from . import _errors  # says what makes exceptions
from . import _rows  # gives batches their methods

Source = namedtuple("Source", "id buffer name protocol core cpu")
Buffer = namedtuple("Buffer", "name file transport size cpu tid chosen")
Task = namedtuple("Task", "pid tid comm begin")
Object = namedtuple("Object", "path kind state file symbols why build_id")
Times = namedtuple("Times", "unit origin first last")
Diagnosis = namedtuple("Diagnosis", "ok problems findings")
Finding = namedtuple("Finding", "code about source offset address count total text")


_captures = weakref.WeakSet()


@atexit.register
def _close_all():
    """End all threads before the interpreter does."""
    for capture in list(_captures):
        capture.close()


def _list(value):
    """A list of what may be one thing, many, or None."""
    if value is None:
        return None
    return list(value) if isinstance(value, (list, tuple, set, frozenset, range)) else [value]


def _program(value, plain):
    """A program of a path, or of (path, address) or (path, address, source)."""
    path, address, source = (value, 0, -1) if not isinstance(value, (list, tuple)) else (
        *value, *(0, -1)[len(value) - 1:])
    return path, address, plain, -1 if source is None else source


def _selection(source=None, pid=None, tid=None, task=None, comm=None, cpu=None, dso=None,
               time=None):
    """Keywords that choose what counts, as the extension wants them."""
    tids = (_list(tid) or []) + (_list(task) or [])
    since, until = (None, None) if time is None else time
    return {"source": _list(source), "pid": _list(pid), "tid": tids or None, "comm": _list(comm),
            "cpu": _list(cpu), "dso": _list(dso), "time_from": since, "time_to": until}


def open(path, *, protocol=None, transport=None, set=None, core=None, params=None, elf=None,
         image=None, symfs=None, symdir=None, buildid_dir=None, vmlinux=None, kallsyms=None,
         debuginfod=None, debug_dir=None, dso=None, buffer=None, source=None, expansion=None,
         source_limit=None, confine=False, reference=False, threads=0):
    """Open a capture; close() it, or use ``with``.

    Args:
        path: a snapshot (a folder with snapshot.ini, or that file), a perf.data, one file of trace
            with ``protocol`` or ``params``, a FIFO, a device, or "-" for standard input.
        protocol, transport, params: what one file of trace is, and how it is framed.
        set: a dict of registers or parameters, such as {"TRCIDR0": 0x28000ea1}.
        core: type of the traced cores, such as "Cortex-A53".
        elf: programs: a path, (path, bias), (path, bias, source), or a list of these.
        image: plain memory images in the same way: (path, address).
        symfs, symdir, buildid_dir, debug_dir: folders where programs and their debug information
            are looked for.
        vmlinux, kallsyms: the kernel and its symbols.
        dso: a dict of recorded paths and the files that are taken for them.
        buffer, source: decode only this trace buffer, only these trace ids.
        confine: refuse a snapshot that names files outside of its folder.
        reference: imitate the reference decoder.
        threads: threads that decode; 0: as many as there are processors.

    Raises:
        Error: of a subclass that says what kind of thing is wrong.

    >>> with open(SNAPSHOT) as capture:
    ...     capture.kind
    'snapshot'
    """
    settings = list((set or {}).items())
    if core:
        settings.append(("core", core))
    programs = [_program(value, False) for value in _programs(elf)]
    programs += [_program(value, True) for value in _programs(image)]
    options = {"protocol": protocol, "transport": transport, "params": params, "symfs": symfs,
               "symdir": _list(symdir), "buildid_dir": buildid_dir, "vmlinux": vmlinux,
               "kallsyms": kallsyms, "debuginfod": debuginfod, "debug_dir": _list(debug_dir),
               "buffer": buffer, "source": _list(source), "expansion": expansion,
               "source_limit": source_limit, "confine": confine, "reference": reference,
               "settings": settings, "replacements": list((dso or {}).items()),
               "programs": programs}
    return Capture(_core.open(path, options), threads)


def _programs(value):
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


class Rows:
    """Single rows out of a stream of batches. An iterator, which close() ends early."""

    def __init__(self, stream):
        self._stream = stream
        self._rows = iter(())

    def __iter__(self):
        return self

    def __next__(self):
        for row in self._rows:
            return row
        for batch in self._stream:
            self._rows = iter(batch)
            for row in self._rows:
                return row
        raise StopIteration

    def batches(self):
        """The same rows as batches: columns for NumPy, pandas and Arrow."""
        return self._stream

    def table(self):
        """All rows that are left, as a Table."""
        names = names_of(self._kind)
        return _rows.Table(names, (row._values() for row in self))

    def close(self):
        """Stop decoding, and wait for its threads."""
        self._rows = iter(())
        self._stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    _kind = "Element"


def names_of(kind):
    """The names of a kind's fields."""
    return _rows._names(kind)


class Calls(Rows):
    """Calls, in the order in which they were left."""
    _kind = "Call"


class Instructions(Rows):
    """Instructions, in the order in which they ran."""
    _kind = "Instruction"


class Events(Rows):
    """Events of an ITM or DWT."""
    _kind = "DwtEvent"


class Slices(Rows):
    """Slices of a timeline, as they end."""
    _kind = "Slice"


class Packets(Rows):
    """Packets, in the order of the trace."""
    _kind = "Packet"


class Correlated(Rows):
    """Elements of all sources, in the order of time."""
    _kind = "CorrelatedElement"


class Capture:
    """An open capture. Made by :func:`open`; use it in a ``with`` statement.

    Any number of threads may use one. What came out of it stays valid after close(): batches,
    rows, profiles. The capture itself, and iterators that have not ended, do not.
    """

    def __init__(self, handle, threads=0):
        self._handle = handle
        self._threads = threads
        self._streams = weakref.WeakSet()
        _captures.add(self)

    # ---- life ----

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def close(self):
        """Close it. Iterators that are not at their end stop, and their threads are joined."""
        for stream in list(self._streams):
            stream.close()
        self._handle.close()

    @property
    def closed(self):
        """Whether it was closed."""
        return self._handle.closed

    def _open(self):
        if self._handle.closed:
            raise ValueError("the capture is closed")
        return self._handle

    # ---- what it is ----

    @property
    def kind(self):
        """"snapshot", "raw", "stream" or "perf"."""
        return self._handle.describe("")[0]

    @property
    def title(self):
        """What it is, in words."""
        return self._handle.describe("")[1]

    @property
    def path(self):
        """The input as it was given, a pathlib.Path."""
        import pathlib

        return pathlib.Path(self._handle.describe("")[2])

    @property
    def live(self):
        """Whether its trace is still arriving. It can be decoded once then."""
        return self._handle.describe("")[3]

    @property
    def facts(self):
        """Facts about all of it, a dict of texts."""
        return self._handle.describe("facts")

    @property
    def sources(self):
        """What writes trace: tuples (id, buffer, name, protocol, core, cpu).

        >>> [f"{s.id:#x} {s.protocol}" for s in capture.sources]
        ['0x10 ETMV4I']
        """
        return [Source(*row) for row in self._handle.describe("sources")]

    @property
    def buffers(self):
        """Trace buffers: tuples (name, file, transport, size, cpu, tid, chosen)."""
        return [Buffer(*row) for row in self._handle.describe("buffers")]

    @property
    def tasks(self):
        """Threads, each under one name: tuples (pid, tid, comm, begin)."""
        return [Task(*row) for row in self._handle.describe("tasks")]

    @property
    def objects(self):
        """Files that the program comes from: (path, kind, state, file, symbols, why, build_id)."""
        return [Object(path, kind, state, file or None, symbols, why, build_id.hex() or None)
                for path, kind, state, file, symbols, why, build_id
                in self._handle.describe("objects")]

    @property
    def times(self):
        """What times count: (unit, origin, first, last). The unit is "ns", "ticks" or ""."""
        return Times(**self._handle.describe("times"))

    def info(self):
        """All of this as one dict, of what JSON has, too."""
        return {"path": str(self.path), "kind": self.kind, "title": self.title, "live": self.live,
                "facts": self.facts, "times": self.times._asdict(),
                "sources": [row._asdict() for row in self.sources],
                "buffers": [row._asdict() for row in self.buffers],
                "tasks": [row._asdict() for row in self.tasks],
                "objects": [row._asdict() for row in self.objects]}

    def diagnosis(self):
        """What is wrong with decoding it: (ok, problems, findings).

        It decodes all of it, and compares it with the program memory that is there. Problems are
        sentences, the same as those that commands say. Each finding is a tuple (code, about,
        source, offset, address, count, total, text); `about` is "wrong", "lost" (trace was lost,
        the rest is right), "note" or "checked" (something was compared, and agrees).

        >>> with open(SNAPSHOT) as capture:
        ...     capture.diagnosis().ok
        True
        """
        findings = [Finding(*row) for row in self._handle.diagnose(self._threads)]
        return Diagnosis(all(row.about != "wrong" for row in findings),
                         [row.text for row in findings if row.about in ("wrong", "lost")],
                         findings)

    def __repr__(self):
        if self.closed:
            return "<pugmark.Capture, closed>"
        return f"<pugmark.Capture {str(self.path)!r}: {self.title}>"

    def __str__(self):
        if self.closed:
            return repr(self)
        lines = [f"{self.path}: {self.title}"]
        lines += [f"  source 0x{s.id:02x}: {s.protocol}" + (f", {s.name}" if s.name else "") +
                  (f", {s.core}" if s.core else "") for s in self.sources]
        tasks = self.tasks
        lines += [f"  task {t.tid}: {t.comm}" for t in tasks[:8]]
        if len(tasks) > 8:
            lines.append(f"  and {len(tasks) - 8} more tasks")
        times = self.times
        if times.unit:
            lines.append(f"  times in {times.unit} ({times.origin}), {times.first} to {times.last}")
        return "\n".join(lines)

    def _repr_html_(self):
        return _rows.Table(["source", "protocol", "name", "core"],
                           [(f"0x{s.id:02x}", s.protocol, s.name, s.core)
                            for s in self.sources])._repr_html_()

    # ---- decoding ----

    def _stream(self, what, options, wrap=None):
        options.setdefault("threads", self._threads)
        stream = self._open().stream(what, options)
        rows = wrap(stream) if wrap else stream
        self._streams.add(rows)
        return rows

    def batches(self, *, merge=False, times=False, threads=None, **selection):
        """Elements in batches of one origin, of at most 4,096: an iterator of :class:`Batch`.

        Args:
            merge: mix origins; rows have the columns task, cpu and time then.
            times: date batches from within the trace, which reads it once more.
            threads: threads that decode; 0: as many as there are processors.
            selection: what counts: source, pid, tid (or task), comm, cpu, dso, and
                time=(from, to); each one value or a list.

        >>> sum((batch.numpy()["type"] == pugmark.RANGE).sum() for batch in capture.batches())
        23808
        """
        options = _selection(**selection)
        options.update(merge=merge, times=times or selection.get("time") is not None)
        if threads is not None:
            options["threads"] = threads
        return self._stream("batches", options)

    def elements(self, **options):
        """Single elements, one after another; options as of batches()."""
        return Rows(self.batches(**options))

    def instructions(self, *, before=None, last=0, text=True, **selection):
        """Instructions that ran: address, text, function, file, line, outcome and more.

        Args:
            before: with ``last``: only what ran before each element of this type, such as
                pugmark.EXCEPTION. None: before the end.
            last: how many of them; 0: all that ran.
            text: put them into words, which costs time.

        >>> for insn in capture.instructions(last=2):
        ...     print(hex(insn.address), insn.outcome)
        0x210a14 None
        0x210a18 not taken
        """
        if before is not None and not last:
            raise ValueError("before: last says how many instructions are wanted")
        options = _selection(**selection)
        options.update(last=last, text=text, before=before,
                       times=selection.get("time") is not None)
        return self._stream("instructions", options, Instructions)

    def calls(self, *, threads=None, **selection):
        """Calls of functions, in the order in which they were left: function, file, line, begin,
        end, depth and more. Exceptions are calls, too: their kind is pugmark.EXCEPTION_ENTRY,
        their function the exception in words, and ``handler`` the function that it entered.

        >>> calls = list(capture.calls())
        >>> max(call.depth for call in calls) > 0
        True
        """
        options = _selection(**selection)
        if threads is not None:
            options["threads"] = threads
        return self._stream("calls", options, Calls)

    def dwt(self, *, timed=True, **selection):
        """What ITM and DWT packets mean: exceptions, PC samples, data accesses, writes to ports.

        Args:
            timed: wait for the local timestamp that follows events, to date them.
        """
        options = _selection(**selection)
        options["timed"] = timed
        return self._stream("dwt", options, Events)

    def itm(self, port=0, **selection):
        """The bytes that software wrote to a stimulus port. Zeros, which fill up wide writes, are
        left out."""
        out = bytearray()
        for event in self.dwt(timed=False, **selection):
            if event.kind == _core.DWT_STIMULUS and event.number == port:
                out += event.value.to_bytes(4, "little")[:event.size].replace(b"\0", b"")
        return bytes(out)

    # ---- what is counted ----

    def profile(self, *, stacks=False, threads=None, **selection):
        """Count what ran: a :class:`Profile`.

        Args:
            stacks: follow calls as well, for inclusive counts and flame graphs.

        >>> capture.profile().functions()[0].self > 0
        True
        """
        from ._profile import Profile

        options = _selection(**selection)
        options.update(stacks=stacks, threads=self._threads if threads is None else threads)
        status, handle = self._open().profile(options)
        profile = Profile(handle, str(self.path))
        if status:
            error = _errors.make_error(status, "decoding had to stop", "", str(self.path), None)
            if isinstance(error, _errors.Error):
                error.partial = profile
            raise error
        return profile

    def brstack(self, path=None, *, threads=None, **selection):
        """Branch stacks as `perf script -F ip,brstack` prints them, for tools that read these: to a
        file, or without a path as bytes."""
        from ._profile import _place

        options = _selection(**selection)
        options["threads"] = self._threads if threads is None else threads
        data = _core.brstack(self._open(), options)
        return data if path is None else _place(path, data)

    def coverage(self, **selection):
        """Which lines, functions, instructions and branches were seen: a :class:`Coverage`."""
        from ._profile import Coverage

        return Coverage(self.profile(**selection))

    def timeline(self, *, clock="auto", least=0, depth=0, exact=False, rtos=None, threads=None,
                 **selection):
        """Calls over time: a :class:`Timeline`, for a viewer or for pandas.

        Args:
            clock: what times count: "time", "cycles" or "instructions"; "auto": the first of these
                that the trace has.
            least: leave out calls that took less.
            depth: leave out calls that are nested deeper; 0: none.
            exact: estimate no time between two timestamps.
            rtos: a real-time kernel by name, or the path of its description; "off", "flow".

        >>> timeline = capture.timeline(depth=2)
        >>> max(slice.depth for slice in timeline if slice.kind == pugmark.SLICE_CALL)
        1
        """
        from ._timeline import Timeline

        options = _selection(**selection)
        options.update(clock=clock, least=least, depth=depth, exact=exact, rtos=rtos,
                       threads=self._threads if threads is None else threads)
        return Timeline(self, options)

    def _slices(self, options):
        return self._stream("slices", options, Slices)
