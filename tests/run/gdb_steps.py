# SPDX-License-Identifier: MIT
"""
In GDB: the same random commands wherever they are given, with the place that each led to.

With GDB_BACK these commands backwards, too: each leads to a place from which the same forwards comes back to where it
began, or beyond. A line of several pieces of code may take it a few times: backwards GDB 13 can pass over a piece that
begins with a call, forwards it stops at each.
"""
import os
import random

import gdb

random.seed(int(os.environ.get("GDB_SEED", "1")))
gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("set print finish off", to_string=True)
gdb.execute("set confirm off", to_string=True)
gdb.execute("tbreak fibonacci", to_string=True)
gdb.execute("continue", to_string=True)
for n in range(int(os.environ.get("GDB_MOVES", "100"))):
    command = random.choice(("step", "step", "step", "next", "next", "until", "finish", "step 3", "advance arrange"))
    if command == "advance arrange" and random.random() < 0.8:
        command = "next"
    if gdb.selected_frame().name() in ("program", "start", "_start") and not command.startswith("step"):
        command = "step"  # it would soon be over
    if gdb.selected_frame().name().startswith(("system_", "raise_signals")):
        command = "finish"  # QEMU steps over the instruction after a system call, too
    try:
        gdb.execute(command, to_string=True)
        said = ""
    except gdb.error as error:
        said = str(error)
    if gdb.selected_thread() is None:
        print("over: the program has ended", flush=True)
        break
    frame = gdb.selected_frame()
    line = frame.find_sal().line
    print("place %d %s: %s:%d 0x%x %s" % (n, command, frame.name(), line, frame.pc(), said), flush=True)


def position():
    return int(gdb.parse_and_eval("$trace_position"))


for n in range(int(os.environ.get("GDB_BACK", "0"))):
    command = random.choice(("step", "step", "next", "finish"))
    at = position()
    if at == 0:
        break  # there is nothing before
    try:
        gdb.execute("reverse-" + command, to_string=True)
    except gdb.error:
        continue  # finish has no meaning in the outermost frame
    back = position()
    for again in range(1 if command == "finish" else 4):
        try:
            gdb.execute(command, to_string=True)
        except gdb.error as error:
            if command != "finish":
                raise
        if position() >= at:
            break
    if command != "finish" and not back < at <= position():
        print("reverse-%s at %d leads to %d, and %s from there to %d" % (command, at, back, command, position()))
        raise SystemExit(1)
    gdb.execute("pugmark goto #%d" % back, to_string=True)
print("back: good")
