# SPDX-License-Identifier: MIT
"""A pseudo terminal that stands for a serial line: plays bytes, as a receiver at another rate gets them, too.

    serial_peer.py NAME_FILE LINE_FILE PIECE...

The terminal's name goes to NAME_FILE when it is there, its speed and flags to LINE_FILE at the end. A piece is
hexadecimal, "open" (wait until it is opened), "sleep:SECONDS", "each:HEX" (one byte at a time), "close" (when all
was read), or "text:SENT:READ:FORM":
text of an ITM that is sent at one rate and read at another; FORM: 00, parmrk.
"""
import fcntl
import os
import struct
import sys
import termios
import time


def bits_of(data):
    bits = [1]
    for byte in data:
        bits += [0] + [byte >> i & 1 for i in range(8)] + [1]
    return bits + [1] * 20


def text():
    out = bytearray(b"\0\0\0\0\0\x80")
    for n in range(900):
        for char in b"[%06d] valve %d opens, %d mbar left\n" % (n * 37, n % 5, 900 + n * 7 % 200):
            out += bytes([1, char])
    return bytes(out)


def resample(data, sent, read, form):
    bits, out, at, ratio = bits_of(data), bytearray(), 1, sent / read
    while at + 12 * ratio < len(bits) and len(out) < 9000:
        if bits[at] or not bits[at - 1]:
            at += 1
            continue
        sample = [bits[at + int((i + 0.5) * ratio)] for i in range(10)]
        byte = sum(bit << i for i, bit in enumerate(sample[1:9]))
        if not sample[9]:
            out += b"\0" if form == "00" else bytes([0xFF, 0, byte])
        else:
            out += b"\xff\xff" if byte == 0xFF and form == "parmrk" else bytes([byte])
        at += int(9.5 * ratio) + 1
    return bytes(out)


def speed_of(line):
    """As termios2 has it: flags, and the two rates."""
    raw = fcntl.ioctl(line, 0x802C542A, bytes(44))
    return struct.unpack("4I", raw[:16])[2], struct.unpack("2I", raw[36:44])[1]


def main():
    name_file, line_file, *pieces = sys.argv[1:]
    ours, line = os.openpty()
    name = os.ttyname(line)
    old = termios.tcgetattr(line)
    with open(name_file + ".new", "w", encoding="ascii") as file:
        file.write(name)
    os.rename(name_file + ".new", name_file)
    flags = rate = 0
    for piece in pieces:
        kind, _, rest = piece.partition(":")
        if piece == "open":
            while termios.tcgetattr(line) == old:  # whoever opens it makes it raw
                time.sleep(0.02)
            flags, rate = speed_of(line)
        elif piece == "close":
            while struct.unpack("i", fcntl.ioctl(line, termios.FIONREAD, bytes(4)))[0] > 0:
                time.sleep(0.02)
            time.sleep(0.05)
            os.close(ours)
            return
        elif kind == "sleep":
            time.sleep(float(rest))
        elif kind == "each":
            for byte in bytes.fromhex(rest):
                os.write(ours, bytes([byte]))
                time.sleep(0.002)
        elif kind == "text":
            sent, read, form = rest.split(":")
            data = resample(text(), int(sent), int(read), form)
            for at in range(0, len(data), 1024):
                os.write(ours, data[at:at + 1024])
        else:
            os.write(ours, bytes.fromhex(piece))
    for _ in range(200):
        if termios.tcgetattr(line) == old:
            break
        time.sleep(0.05)
    with open(line_file, "w", encoding="ascii") as file:
        same = termios.tcgetattr(line) == old
        file.write(f"{rate} {'8N1' if flags & 0o60 == 0o60 and not flags & 0o400 else 'other'} "
                   f"{'restored' if same else 'changed'}\n")


main()
