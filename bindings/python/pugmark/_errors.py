# SPDX-License-Identifier: MIT
"""Exceptions, and messages for logging."""

from . import _core


class Error(Exception):
    """Something could not be done. All errors of the library are of a class below this one.

    Attributes:
        status: the library's number of the error, negative.
        offset: where in the trace, in bytes; None: nowhere in particular.
        source: trace id of the source; None: of no source in particular.
        lines: what the log said, a str each.
        partial: what was made in spite of it (a Profile), or None.
    """

    status = 0
    offset = None
    source = None
    lines = ()
    partial = None


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class InputError(Error, ValueError):
    """The input, or an option, is not what it should be."""


class DecodeError(Error):
    """Decoding had to stop before the end of the trace."""


class UnsupportedError(Error):
    """The library was built without what this needs, or does not know it."""


_CLASSES = {
    -2: MemoryError,
    -8: FileError, -13: FileError, -31: FileError,
    -16: DecodeError, -17: DecodeError, -18: DecodeError, -46: DecodeError, -15: InputError,
    -6: InputError, -14: InputError, -35: InputError, -36: InputError, -37: InputError,
    -38: InputError, -40: InputError, -64: InputError, -70: InputError, -71: InputError,
    -73: InputError,
    -9: UnsupportedError, -22: UnsupportedError, -23: UnsupportedError, -72: UnsupportedError,
}


def make_error(status, text, help, what, messages):
    """The exception of a status; messages are (severity, code, offset, source, text)."""
    kind = _CLASSES.get(status, Error)
    lines = tuple(line for _, _, _, _, line in messages or ())
    said = f"{what}: {text}" if what else text
    if lines:
        said += "".join(f"\n  {line}" for line in lines[:20])
    elif help:
        said += f" ({help})"
    error = kind(said)
    if isinstance(error, Error):
        error.status = status
        error.lines = lines
        for _, code, offset, source, _ in messages or ():
            if code:
                error.offset, error.source = offset, source
    return error


def log_messages(messages):
    """Hand messages of the library to ``logging.getLogger("pugmark")``."""
    import logging

    logger = logging.getLogger("pugmark")
    for severity, code, offset, source, text in messages:
        where = "" if offset is None else f" at offset {offset}"
        who = "" if source is None else f" of source 0x{source:02x}"
        logger.log(logging.ERROR if severity == 1 else logging.WARNING, "%s%s%s", text, where, who,
                   extra={"status": code, "offset": offset, "source": source})


_core.set_hooks(make_error, log_messages)
