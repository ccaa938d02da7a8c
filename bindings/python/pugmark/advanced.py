# SPDX-License-Identifier: MIT
"""Parts for who has trace from elsewhere, or looks below elements.

===============  =================================================================================
``packets()``    the packets of a capture, with their bytes and their words
``Index``        where marks are in a capture: synchronisation, timestamps, events, contexts
``correlate()``  elements of all sources in the order of time
``Image``        program memory: bytes, files, ELF files, a function of yours
``Tree``         decodes bytes that you hand it, a piece at a time
``consume()``    elements to an object of yours, on all threads
``guess()``      what bytes look like
``encode()``     bytes of packets that are written in words, for tests of decoders and links
===============  =================================================================================
"""

from collections import namedtuple

from . import _core
from ._capture import Correlated, Packets, _selection
from ._core import CorrelatedElement, Image, Packet, Tree

Mark = namedtuple("Mark", "offset value source")
Guess = namedtuple("Guess", "transport protocol score reason settings")
ANY = 0x10000  # every source


def packets(capture, *, text=True, **selection):
    """Packets of a capture, in the order of the trace: an iterator of :class:`Packet`.

    Args:
        text: put each into words.
        selection: as of Capture.batches(); only ``source`` counts.

    >>> next(packets(capture)).name
    'I_ASYNC'
    """
    options = _selection(**selection)
    options["text"] = text
    return capture._stream("packets", options, Packets)


def correlate(capture, **selection):
    """Elements of all buffers and sources in the order of time."""
    return capture._stream("correlated", _selection(**selection), Correlated)


class Consumer:
    """What :func:`consume` calls. Derive from it, and override what you need.

    Each thread that decodes begins a *part* for a stretch of the trace, gives it batches, and when
    it is done the parts are taken one after another, in the order of the trace. Methods may run
    on any thread, one at a time in Python's sense; what a worker began in vain is thrown away.
    """

    def begin(self):
        """Make a part."""
        return []

    def elements(self, part, batch):
        """A :class:`pugmark.Batch` of the part."""
        part.append(batch)

    def take(self, part):
        """The next part is complete. Return False to stop decoding."""


def consume(capture, consumer, *, times=False, threads=None, **selection):
    """Decode a capture to a consumer of yours, which is returned. Work in NumPy runs beside decoding.

    Args:
        consumer: an object with the methods of :class:`Consumer`.
        times, threads, selection: as of Capture.batches().

    >>> class Instructions(Consumer):
    ...     total = 0
    ...     def begin(self):
    ...         return {"sum": 0}
    ...     def elements(self, part, batch):
    ...         a = batch.numpy()
    ...         part["sum"] += int(a["count"][a["type"] == pugmark.RANGE].sum())
    ...     def take(self, part):
    ...         self.total += part["sum"]
    >>> consume(capture, Instructions()).total == capture.profile().instructions
    True
    """
    options = _selection(**selection)
    options.update(times=times or selection.get("time") is not None,
                   threads=capture._threads if threads is None else threads)
    return _core.consume(capture._open(), consumer, options)


class Index:
    """Where marks are in a segment of a capture. Building it reads all packets once.

    >>> Index(capture).find(MARK_SYNC).offset
    0
    """

    def __init__(self, capture, segment=0):
        self._index = _core.index(capture._open(), segment)

    def find(self, kind, *, source=ANY, start=0, backwards=False, least=0, greatest=2**64 - 1):
        """The first mark of a kind from ``start`` on: (offset, value, source), or None.

        Args:
            kind: MARK_SYNC, MARK_TIMESTAMP, MARK_EXCEPTION ...
            least, greatest: only with such a value.
        """
        found = self._index.find(kind, source, start, backwards, least, greatest)
        return Mark(*found) if found else None

    def find_all(self, kind, **options):
        """All marks of a kind, one after another."""
        options.setdefault("start", 0)
        while (mark := self.find(kind, **options)) is not None:
            yield mark
            options["start"] = mark.offset + 1

    def counts(self):
        """How many marks each source has: a dict of trace ids, each with a list by kind."""
        return {source: counts for source, _, _, counts in self._index.counts()}

    def save(self, path):
        """Write it to a file, which the command reads, too."""
        self._index.save(path)


def encode(lines, *, format="encapsulation", set=None):
    """The bytes of packets in words, as ``pugmark encode`` makes them: RISC-V packets in their
    encapsulation, or Open SoC Debug datagrams.

    Args:
        lines: a text, a line a packet, or a list of lines: "packet SOURCE TYPE PAYLOAD", "idle",
            "sync" ...; with the format "osd" "stm MODULE WIDTH TIME ID VALUE" and others.
        format: "encapsulation" or "osd".
        set: a dict of settings, such as {"src_bits": 8}.

    >>> encode("packet 5 0 7308", set={"src_bits": 8}).hex()
    '02057308'
    """
    if format not in ("encapsulation", "osd"):
        raise ValueError("format: encapsulation or osd")
    lines = lines.splitlines() if isinstance(lines, str) else list(lines)
    settings = [f"{name}={value}" for name, value in (set or {}).items()]
    return _core.encode(lines, format == "osd", settings)


def guess(data):
    """What bytes look like: a list of (transport, protocol, score, reason, settings)."""
    return [Guess(*item) for item in _core.guess(data)]


for _name in dir(_core):
    if _name.startswith("MARK_"):
        globals()[_name] = getattr(_core, _name)
