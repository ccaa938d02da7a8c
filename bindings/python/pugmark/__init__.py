# SPDX-License-Identifier: MIT
"""Processor trace for Python: open what you have, and ask what ran.

    import pugmark

    with pugmark.open("perf.data", symfs="root") as capture:
        print(capture)
        for call in capture.calls():
            print(call.function, call.begin, call.end)

A capture is a snapshot (a folder with snapshot.ini), a perf.data, or one file of trace that options
describe; anything that the command ``pugmark`` takes. Its methods decode on all processors, without
the GIL:

==================  ==============================================================================
``batches()``       elements of the trace, a few thousand at once, as buffers and NumPy arrays
``instructions()``  each instruction that ran, with its source
``calls()``         each call of a function, with its times
``profile()``       how often what ran: tables, flame graphs, formats of other tools
``coverage()``      which lines, functions and branches were seen
``timeline()``      calls over time, for a viewer
``itm()``           text that software wrote to a port of an ITM
``dwt()``           what the hardware packets of an ITM mean
``check()``         whether the trace keeps rules, as ``pugmark check`` has them
==================  ==============================================================================

NumPy and pandas are imported when something needs them, not before. Parts for bytes that come from
elsewhere are in :mod:`pugmark.advanced`.
"""

from . import _core
from ._core import Batch, Call, DwtEvent, Element, Instruction, MergedElement, Slice
from ._capture import Capture, open
from ._check import Checked, Verdict, check
from ._errors import DecodeError, Error, FileError, InputError, UnsupportedError
from ._profile import Coverage, Profile, read_profile
from ._rows import Table
from ._timeline import Timeline

CONSTANTS = tuple(name for name in dir(_core) if name.isupper())
globals().update({name: getattr(_core, name) for name in CONSTANTS})


def element_name(kind):
    """The name of a kind of element.

    >>> element_name(RANGE)
    'INSTR_RANGE'
    """
    return _core.element_name(kind)


def exception_name(numbers, number):
    """The name of an exception, of an element's ``reason`` and ``number``.

    >>> exception_name(3, 14)
    'exception 14 (IRQ)'
    """
    return _core.exception_name(numbers, number)


def disassembler():
    """What puts instructions into words ("LLVM 19"), or None: texts are then bytes in digits."""
    return _core.disassembler()


__all__ = ["Batch", "Call", "Capture", "Checked", "Coverage", "DecodeError", "DwtEvent", "Element", "Error",
           "FileError", "InputError", "Instruction", "MergedElement", "Profile", "Slice", "Table",
           "Timeline", "UnsupportedError", "Verdict", "check", "disassembler", "element_name", "exception_name", "open",
           "read_profile", *CONSTANTS]
