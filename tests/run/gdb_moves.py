# SPDX-License-Identifier: MIT
"""In GDB: random moves in a recording, each held against the path that ran.

GDB_TRUTH names a file with a line for each position: its address, and "e" with the exception's number where it is one
before an exception, "s" at the end of a stretch of trace, "gap" where no trace tells how it came there, "chain" and the
number at the first instruction of a handler that an M profile core went to from another handler's end, or where that
handler was interrupted before it.
The call stack that is expected is made here, of the path and of what GDB's disassembler says of each instruction.
"""
import os
import random
import re

import gdb

random.seed(int(os.environ.get("GDB_SEED", "1")))
MOVES = int(os.environ.get("GDB_MOVES", "300"))
STACKS = int(os.environ.get("GDB_STACKS", "100"))

truth = []
trap = []
ends = []
gaps = []
numbers = []  # of exceptions
chains = []
for line in open(os.environ["GDB_TRUTH"]):
    words = line.split()
    truth.append(int(words[0], 16))
    trap.append(words[1:2] in (["e"], ["s"]))
    ends.append(words[1:] == ["s"])
    gaps.append("gap" in words)
    chains.append("chain" in words)
    numbers.append(int(words[2], 16) if words[1:2] == ["e"] else 0)
    chains[-1] = int(words[words.index("chain") + 1], 16) if chains[-1] else None
END = len(truth) - 1

counts = {}


def fail(what, at, wanted):
    raise SystemExit("FAILED %s from position %d: at position %d, 0x%x; expected position %d, 0x%x" % (
        what, at, here(), pc(), wanted, truth[wanted]))


def pc():
    return int(gdb.parse_and_eval("(unsigned long long)$pc"))


def here():
    return int(gdb.parse_and_eval("$trace_position"))


def run(command):
    return gdb.execute(command, to_string=True)


def expect(what, wanted, at=-1):
    counts[what] = counts.get(what, 0) + 1
    if here() != wanted or pc() != truth[wanted]:
        fail(what, at, wanted)


# ---- what each instruction is ----

CONDITION = "(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?"
known = {}


def kind(address):
    """"call", "return" or "": by the disassembler's words; and the instruction's size."""
    if address not in known:
        insn = gdb.selected_frame().architecture().disassemble(address)[0]
        words = insn["asm"].replace("\t", " ").split()
        name = words[0].split(".")[0]
        rest = " ".join(words[1:])
        what = ""
        if re.fullmatch("(bl|blx)%s|blr|jal|jalr|call" % CONDITION, name):
            what = "call"
            if name in ("jal", "jalr") and re.match(r"(zero|x0|t\d)\b", rest):
                what = ""
        elif name == "ret" or re.fullmatch("bx" + CONDITION, name):
            what = "return" if not rest or rest == "lr" else ""  # "bx ip" goes on to a function that is far away
        elif re.fullmatch("(pop|ldm|ldmia|ldmfd|ldr|mov)" + CONDITION, name) and "pc" in rest:
            what = "return" if not name.startswith("ldr") or re.match(r"pc, \[sp\]", rest) else ""
        known[address] = (what, insn["length"])
    return known[address]


functions = {}


def function_of(address):
    if address not in functions:
        functions[address] = re.split(r" \+ | in section", run("info symbol 0x%x" % address))[0].strip()
    return functions[address]


def start_of(address):
    """Where the function at an address begins."""
    words = re.search(r" \+ (\d+)", run("info symbol 0x%x" % address))
    return address - int(words.group(1)) if words else address


def caller_in(stack, address):
    """The nearest call that is of the function at an address; None: there is none."""
    while stack is not None and stack[3] != function_of(address):
        stack = stack[1]
    return stack


PENDSV = 14
M_PROFILE = any(register.name == "xpsr" for register in gdb.selected_frame().architecture().registers())
waiting = []  # threads of an M profile core that PendSV stopped: (where, their calls)


def handler_in(stack):
    while stack is not None and stack[4] is None:
        stack = stack[1]
    return stack


def switched(stack, address):
    """The calls of the thread that waits at an address; None: none does, or several do."""
    waiting.append(stack)
    found = [thread for thread in waiting if thread[0] == address]
    if len(found) != 1:
        return None
    waiting.remove(found[0])
    return found[0][1]


def returned(stack, address):
    """
    The calls after a return to an address. Where none returns there it was changed, and a call below that the address
    is in goes on; or nothing is known of callers.
    """
    entry = stack
    handler = handler_in(stack) if M_PROFILE else None
    while entry is not handler and entry[0] != address:
        entry = entry[1]
    if entry is None:
        return caller_in(stack[1], address) if stack is not None else None
    if entry is handler and handler[0] is None:
        return None
    if entry is not handler or handler[0] == address:
        return entry[1]
    if handler[4] == PENDSV and handler_in(handler[1]) is None:
        return switched((handler[0], handler[1]), address)
    return caller_in(handler[1], address)


def stacks():
    """
    The calls at each position, as a linked list: (return address, caller, first position, function, number of the
    exception that it handles). Where a stretch of trace ended and execution goes on elsewhere the calls are kept down
    to one of that function.
    """
    made = []
    stack = None
    before = None
    for at, address in enumerate(truth):
        if at > 0 and gaps[at] and not (trap[at - 1] and truth[at - 1] == address):
            stack = caller_in(stack, address)
        elif at > 0 and trap[at - 1] and not trap[at] and address != truth[at - 1]:
            stack = (truth[at - 1], stack, at, function_of(address), numbers[at - 1])
        elif chains[at] is not None:
            # One that was entered and interrupted before its first instruction is not in the trace: then nothing is
            # known of what the next one returns to.
            handler = handler_in(stack) or (None, None)
            stack = (handler[0], handler[1], at, function_of(address), chains[at])
        elif before is not None and not ends[at]:
            what, size = kind(before)
            behind = before + size
            if what == "call" and address != behind:
                stack = (behind, stack, at, function_of(address), None)
            elif what == "return" and address != behind:
                # A conditional return that was not taken goes on behind it.
                stack = returned(stack, address)
        made.append(stack)
        before = None if trap[at] else address
    return made


stack_at = stacks()


def expected_frames(at):
    frames = [truth[at]]
    entry = stack_at[at]
    while entry is not None and entry[0] is not None:
        frames.append(entry[0])
        entry = entry[1]
    return frames


def shown_frames():
    frames = []
    frame = gdb.newest_frame()
    while frame is not None and frame.pc() != 0:
        if frame.type() != gdb.INLINE_FRAME:
            frames.append(frame.pc())
        frame = frame.older()
    return frames


# ---- moves ----


def goto(at):
    run("pugmark goto #%d" % at)
    expect("goto", at)


def stepi(backward):
    count = random.choice((1, 1, 1, 2, 5, 20))
    at = here()
    run("%sstepi %d" % ("reverse-" if backward else "", count))
    expect("reverse-stepi" if backward else "stepi",
           max(at - count, 0) if backward else min(at + count, END))


def resume(backward):
    at = here()
    addresses = random.sample(places, 3)
    for address in addresses:
        run("break *0x%x" % address)
    run("reverse-continue" if backward else "continue")
    run("delete")
    step = -1 if backward else 1
    wanted = at + step
    while 0 <= wanted <= END and (trap[wanted] or truth[wanted] not in addresses):
        wanted += step
    expect("reverse-continue" if backward else "continue", min(max(wanted, 0), END))


def finish(backward):
    at = here()
    entry = stack_at[at]
    if entry is None or entry[1] is None or entry[0] is None or trap[entry[2] - 1]:
        return  # its caller is not known; or a handler, which may leave by longjmp()
    if backward:
        # GDB goes back to the function's last first instruction, of whatever call of it, and one more. The function
        # may be one that was branched to from the end of the one that was called.
        start = entry[2]
        first = start_of(truth[at])
        for n in range(start, at + 1):
            start = n if truth[n] == first and not trap[n] else start
        run("reverse-finish")
        expect("reverse-finish", start - 1, at)
        return
    wanted = at + 1
    while wanted <= END and not (truth[wanted] == entry[0] and stack_at[wanted] is entry[1] and not trap[wanted]):
        wanted += 1
    run("finish")
    if wanted > END and pc() == entry[0]:
        return  # its calls were lost, and it came back all the same
    expect("finish", min(wanted, END), at)


goto(END)
run("pugmark goto end")
expect("goto end", END)
run("continue")
expect("continue at the end", END)
goto(0)
places = sorted(set(address for at, address in enumerate(truth) if not trap[at]))
moves = [lambda: goto(random.randrange(END + 1)), lambda: stepi(False), lambda: stepi(True),
         lambda: resume(False), lambda: resume(True), lambda: finish(False), lambda: finish(True)]
for n in range(MOVES):
    random.choice(moves)()

for n in range(STACKS):
    at = random.randrange(END + 1)
    goto(at)
    wanted = expected_frames(at)
    try:
        shown = shown_frames()
    except gdb.error as error:
        raise SystemExit("FAILED bt at position %d: %s" % (at, error))
    counts["backtrace"] = counts.get("backtrace", 0) + 1
    if wanted != shown:
        raise SystemExit("FAILED bt at position %d: expected %s, got %s" % (
            at, " ".join("%x" % a for a in wanted), " ".join("%x" % a for a in shown)))
print("good: " + ", ".join("%d %s" % (counts[name], name) for name in sorted(counts)))
