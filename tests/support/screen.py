# SPDX-License-Identifier: MIT
"""A small terminal: runs a command on a pseudo terminal, and keeps what its screen shows.

    screen.py ROWSxCOLUMNS STEP... -- COMMAND...

A step is "wait:SECONDS", "key:X", "size:ROWSxCOLUMNS", "int" (Ctrl-C), or "show:FILE", which writes the screen to a file. Exits with
the command's code; 99: what came is not what a terminal of this size can show in its lines.
"""
import fcntl
import os
import select
import struct
import subprocess
import sys
import termios
import time


class Screen:
    def __init__(self, rows, columns):
        self.odd, self.rest, self.cursor = [], "", True
        self.resize(rows, columns)

    def resize(self, rows, columns):
        self.rows, self.columns, self.y, self.x = rows, columns, 0, 0
        self.lines = [[" "] * columns for _ in range(rows)]

    def down(self):
        if self.y + 1 < self.rows:
            self.y += 1
        else:
            self.lines = self.lines[1:] + [[" "] * self.columns]

    def clear(self, first, last):
        for y in range(first, last):
            self.lines[y] = [" "] * self.columns

    def control(self, words, what):
        if what == "H":
            place = [int(word or 1) for word in (words or "1").split(";")] + [1]
            self.y, self.x = min(place[0], self.rows) - 1, min(place[1], self.columns) - 1
        elif what == "J" and words in ("", "0"):
            self.control("", "K")
            self.clear(self.y + 1, self.rows)
        elif what == "J":
            self.clear(0, self.rows)
        elif what == "K":
            self.lines[self.y][self.x:] = [" "] * (self.columns - self.x)
        elif what in "hl" and words == "?1049":  # the other page
            self.y = self.x = 0
            self.clear(0, self.rows)
        elif what in "hl" and words == "?25":
            self.cursor = what == "h"
        elif what not in "hlm":
            self.odd.append(words + what)

    def put(self, char):
        if char == "\r":
            self.x = 0
        elif char == "\n":
            self.down()
        elif char >= " ":
            if self.x >= self.columns:
                self.odd.append("a line is longer than the screen is wide: " + "".join(self.lines[self.y]))
                self.x = 0
                self.down()
            self.lines[self.y][self.x] = char
            self.x += 1
        else:
            self.odd.append(repr(char))

    def feed(self, text):
        text, at = self.rest + text, 0
        self.rest = ""
        while at < len(text):
            if text[at] != "\x1b":
                self.put(text[at])
                at += 1
                continue
            end = at + 2
            while end < len(text) and not "@" <= text[end] <= "~":
                end += 1
            if end >= len(text):
                self.rest = text[at:]
                return
            self.control(text[at + 2:end], text[end])
            at = end + 1

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines).rstrip() + "\n"


def pair(words):
    return tuple(int(number) for number in words.split("x"))


def set_size(terminal, size):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", *size, 0, 0))


def read_for(terminal, screen, seconds):
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if not select.select([terminal], [], [], max(0, left))[0]:
            return
        try:
            got = os.read(terminal, 65536)
        except OSError:
            return
        screen.feed(got.decode("utf-8", "replace"))


def main():
    split = sys.argv.index("--")
    size = pair(sys.argv[1])
    ours, theirs = os.openpty()
    set_size(ours, size)
    screen = Screen(*size)

    def take_terminal():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(sys.argv[split + 1:], stdin=theirs, stdout=theirs, preexec_fn=take_terminal,
                               env=dict(os.environ, TERM="xterm", COLUMNS=""))
    os.close(theirs)
    for step in sys.argv[2:split]:
        what, _, rest = step.partition(":")
        if what == "key":
            os.write(ours, rest.encode())
        elif what == "int":
            os.write(ours, b"\x03")
        elif what == "size":
            set_size(ours, pair(rest))
            odd = list(screen.odd)
            read_for(ours, screen, 0.7)  # what is drawn until the command notices is of the old size
            screen.resize(*pair(rest))
            screen.odd = odd
        elif what == "show":
            with open(rest, "w", encoding="utf-8") as file:
                file.write(screen.text())
        read_for(ours, screen, float(rest) if what == "wait" else 0.05)
    read_for(ours, screen, 0.2)
    for _ in range(200):
        if process.poll() is not None:
            break
        read_for(ours, screen, 0.05)
    if not screen.cursor:
        screen.odd.append("the cursor stays hidden")
    if screen.odd:
        print("odd:", screen.odd[:3], file=sys.stderr)
        sys.exit(99)
    sys.exit(process.wait())


main()
