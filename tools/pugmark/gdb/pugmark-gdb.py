# SPDX-License-Identifier: MIT
"""For GDB, with `pugmark gdb`: frames from the trace's own call stack, and the `pugmark` commands.

The unwinder claims every frame. It reads the call stack from a window of memory that the server keeps. It
never sends packets of its own from there: GDB 13 crashes then.
"""
import struct

import gdb
import gdb.FrameDecorator
from gdb.unwinder import Unwinder

HEAD = struct.Struct("<8sQQQ")
FRAME = struct.Struct("<QQqQ")
WINDOWS = {8: 0xFFFFFFFFF0000000, 4: 0xFFFF0000}
# The made-up stack pointer of outer frames, by which they are known again: BASE + 16 * level.
BASES = {8: 0x7075670000000000, 4: 0x70000000}
# Frame ids: TOP - 16 * depth of the call.
TOPS = {8: 0x7075680000000000, 4: 0x78000000}
FIRST = 6  # frames at first: a step needs two
READ = 64  # frames at once, then


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class Stack:
    """The call stack of the selected thread, as the server has it now."""

    def __init__(self, width):
        self.width = width
        self.frames = []
        inferior = gdb.selected_inferior()
        window = WINDOWS[width]
        data = bytes(inferior.read_memory(window, HEAD.size + FIRST * FRAME.size))
        magic, count, self.position, self.thread = HEAD.unpack_from(data)
        if magic != b"PUGFRAME":
            raise gdb.error("no call stack")
        self.add(data, HEAD.size, min(count, FIRST))
        while len(self.frames) < count:
            more = min(READ, count - len(self.frames))
            at = window + HEAD.size + len(self.frames) * FRAME.size
            self.add(bytes(inferior.read_memory(at, more * FRAME.size)), 0, more)

    def add(self, data, at, count):
        for n in range(count):
            self.frames.append(FRAME.unpack_from(data, at + n * FRAME.size))


def width_of(architecture):
    name = architecture.name()
    return 8 if "aarch64" in name or "rv64" in name else 4


class PugmarkUnwinder(Unwinder):
    def __init__(self):
        super().__init__("pugmark")
        self.stack = None
        self.types = {}

    def pointer(self, value, width):
        # Of the width of the target: GDB's `void *` may be another before the program is loaded.
        kind = self.types.get(width)
        if kind is None:
            kind = gdb.lookup_type("unsigned long long" if width == 8 else "unsigned int")
            self.types[width] = kind
        return gdb.Value(value).cast(kind)

    def level_of(self, frame, width):
        """Which call of the stack a frame is; the innermost one has no such stack pointer."""
        if frame.level() == 0:
            return 0
        try:
            sp = int(frame.read_register("sp")) & ((1 << 8 * width) - 1)
        except (gdb.error, ValueError):
            return 0
        level = (sp - BASES[width]) // 16
        return level if 0 < level < 1 << 20 else 0

    def is_interrupted(self, frame):
        """Did an exception come between a frame and the one further in?"""
        level = self.level_of(frame, width_of(frame.architecture()))
        return 0 < level <= len(self.stack.frames if self.stack else ()) and (
            self.stack.frames[level - 1][3] >> 8 == EXCEPTION)

    def __call__(self, frame):
        try:
            return self.unwind(frame)
        except (gdb.error, gdb.MemoryError, struct.error, KeyError):
            return None

    def unwind(self, frame):
        width = width_of(frame.architecture())
        level = self.level_of(frame, width)
        if level == 0 or self.stack is None:
            self.stack = Stack(width)
        frames = self.stack.frames
        if level > len(frames) or not frames:
            return None
        if level == len(frames):  # the caller that nobody knows: its pc is 0, and GDB ends there
            sp = self.pointer((TOPS[width] - 16 * (frames[-1][2] - 1)) & ((1 << 8 * width) - 1), width)
            info = frame.create_unwind_info(FrameId(sp, self.pointer(0, width)))
            info.add_saved_register("pc", self.pointer(0, width))
            info.add_saved_register("sp", self.pointer(BASES[width] + 16 * level, width))
            return info
        _, function, depth, flags = frames[level]
        sp = self.pointer((TOPS[width] - 16 * depth) & ((1 << 8 * width) - 1), width)
        info = frame.create_unwind_info(FrameId(sp, self.pointer(function, width)))
        known = flags & 1 and level + 1 < len(frames)
        info.add_saved_register("pc", self.pointer(frames[level + 1][0] if known else 0, width))
        if level + 1 < len(frames) and not known:
            del frames[level + 1 :]
        info.add_saved_register("sp", self.pointer(BASES[width] + 16 * (level + 1), width))
        name = frame.architecture().name()
        if name.startswith("arm"):
            for status in ("cpsr", "xpsr"):
                try:
                    info.add_saved_register(status, frame.read_register(status))
                    break
                except (gdb.error, ValueError):
                    continue
        return info


UNWINDER = PugmarkUnwinder()


class Prefix(gdb.Command):
    """Move in a trace, and ask about it. `pugmark help` lists what there is."""

    def __init__(self):
        super().__init__("pugmark", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE, True)

    def invoke(self, words, _from_tty):
        gdb.write(monitor("help" if not words else words))


class Asks(gdb.Command):
    """Ask the server about the trace. `pugmark help` says what each command does."""

    moves = False

    def __init__(self, name):
        self.name = name
        super().__init__("pugmark " + name, gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)

    def invoke(self, words, _from_tty):
        self.dont_repeat_if_asks()
        gdb.write(monitor((self.name + " " + words).strip()))
        if self.moves:
            refresh()

    def dont_repeat_if_asks(self):
        if not self.moves:
            self.dont_repeat()


class Moves(Asks):
    """Move in the trace. `pugmark help` says what each command does."""

    moves = True


def monitor(words):
    return gdb.execute("monitor " + words, to_string=True)


def refresh_frames():
    """GDB keeps registers and frames: they are of the place before."""
    UNWINDER.stack = None
    gdb.execute("maintenance flush register-cache", to_string=True)


def refresh():
    """Takes over where a command of the server led: its registers, thread and libraries."""
    refresh_frames()
    answer = gdb.execute("monitor thread", to_string=True).strip()
    if answer.isdigit():
        for thread in [thread for inferior in gdb.inferiors() for thread in inferior.threads()]:
            if thread.ptid[1] == int(answer) or thread.ptid[2] == int(answer):
                thread.switch()
                break
    if monitor("libraries").strip() == "changed":
        gdb.execute("sharedlibrary", to_string=True)
    gdb.execute("frame 0")


gdb.unwinder.register_unwinder(None, UNWINDER, True)
Prefix()
for command in ("goto", "back-line", "back-over"):
    Moves(command)
for command in ("find", "where", "time", "calls", "compare", "history", "losses", "status", "help"):
    Asks(command)


EXCEPTION = 3  # enum pug_call_kind


class Shown(gdb.FrameDecorator.FrameDecorator):
    """
    A frame in a backtrace. GDB looks for its function and line in front of its pc, where the call is. One that an
    exception interrupted has its place at the pc itself.
    """

    def __init__(self, base):
        super().__init__(base)
        self.interrupted = UNWINDER.is_interrupted(self.inferior_frame())

    def function(self):
        frame = self.inferior_frame()
        if self.interrupted:
            return name_at(frame.pc())
        if frame.function() is not None:
            return super().function()
        return frame.name() or "??"

    def line(self):
        if not self.interrupted:
            return super().line()
        return gdb.find_pc_line(self.inferior_frame().pc()).line or None

    def filename(self):
        if not self.interrupted:
            return super().filename()
        table = gdb.find_pc_line(self.inferior_frame().pc()).symtab
        return table.filename if table else super().filename()


def name_at(pc):
    block = gdb.block_for_pc(pc)
    while block is not None and block.function is None:
        block = block.superblock
    if block is not None:
        return block.function.name
    words = gdb.execute("info symbol 0x%x" % pc, to_string=True).split()
    return words[0] if words and words[0] != "No" else "??"


class HideUnknown:
    """Leaves the caller that nobody knows out of backtraces."""

    def __init__(self):
        self.name = "pugmark"
        self.priority = 100
        self.enabled = True
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        for frame in frames:
            if frame.inferior_frame().pc() != 0:
                yield Shown(frame)


HideUnknown()


class Inferiors(gdb.Command):
    """
    Prepare all processes but the first. GDB 13 asks for registers, the place of the program and libraries of the
    process that it connects to alone.
    """

    def __init__(self):
        self.done = set()
        self.without = set()
        super().__init__("pugmark inferiors", gdb.COMMAND_RUNNING, gdb.COMPLETE_NONE)
        gdb.events.before_prompt.connect(self.prepare)

    def invoke(self, words, _from_tty):
        self.done.clear()
        self.without.clear()
        self.prepare()

    def prepare(self):
        if gdb.selected_thread() is not None and gdb.current_progspace().filename is None and (
            gdb.selected_inferior().num not in self.without
        ):
            # No program that is there all the time: GDB has not read the symbols of those that come and go.
            self.without.add(gdb.selected_inferior().num)
            gdb.execute("sharedlibrary", to_string=True)
        all_of_them = {(inferior.num, inferior.pid) for inferior in gdb.inferiors() if inferior.pid > 1}
        new = sorted(all_of_them - self.done)
        self.done = all_of_them
        thread = gdb.selected_thread()
        if not new or thread is None:
            return
        for number, _ in new:
            prepare_inferior(number)
        thread.switch()
        refresh_frames()


def prepare_inferior(number):
    try:
        gdb.execute("inferior %d" % number, to_string=True)
    except gdb.error:
        pass  # it cannot show the place yet
    try:
        gdb.execute("unset tdesc filename", to_string=True)
        refresh_frames()
        offset = int(monitor("offset"), 16)
        path = gdb.current_progspace().filename
        if offset != 0 and path:
            gdb.execute('symbol-file -o 0x%x "%s"' % (offset, path), to_string=True)
        gdb.execute("sharedlibrary", to_string=True)
    except (gdb.error, ValueError) as error:
        gdb.write("pugmark: process %d: %s\n" % (number, error))


Inferiors()
