#!/bin/sh
# SPDX-License-Identifier: MIT
# make.sh RECORD: makes the demonstration capture again. Compiles program.c for AArch64, runs it under QEMU one instruction at a
# time, and lets the recorder (build/PRESET/bin/record) turn the path into an ETMv4 capture. Needs gcc-aarch64-linux-gnu and
# qemu-user.
set -eu
record=$(readlink -f "${1:?usage: make.sh RECORD}")
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
aarch64-linux-gnu-gcc -O1 -nostdlib -static -ffreestanding -fno-asynchronous-unwind-tables \
  -Wl,-Ttext=0x400000 -Wl,-z,max-page-size=4096 -Wl,--build-id=none -s -o "$tmp/program" program.c
qemu-aarch64 -singlestep -d nochain,exec -D "$tmp/log" "$tmp/program"
sed -n 's|^Trace [0-9]*: 0x[0-9a-f]* \[[0-9a-f]*/0*\([0-9a-f]*\)/.*|\1|p' "$tmp/log" >"$tmp/path"
"$record" --elf "$tmp/program" --out . --return-stack --timestamps 60 --sync 400 --seed 3 <"$tmp/path"
cp "$tmp/path" path.txt
