#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh PUGMARK FOLDER [-DDEFECT]: builds the firmware into a folder, records its test under QEMU, and checks rules and
# coverage. Ends as `pugmark check` does: 0 all rules hold, 1 one is violated. junit.xml and coverage.info are for CI.
# Needs clang, lld and qemu-system-arm.
set -eu
pugmark=$(readlink -f "${1:?usage: run.sh PUGMARK FOLDER [-DDEFECT]}") here=$(cd "$(dirname "$0")" && pwd) folder=$2
shift 2
mkdir -p "$folder"
cd "$folder"
clang --target=armv7m-none-eabi -mcpu=cortex-m3 -ffreestanding -O1 -g -gdwarf-4 -fno-inline "$@" -c -o app.o "$here/app.c"
ld.lld -n -static -T "$here/app.ld" -e start -o app.elf app.o

# The firmware never ends: the machine stops after so many instructions.
timeout 60 "$pugmark" record --quiet --limit 60000 --path app.path -- \
  qemu-system-arm -M mps2-an385 -nic none -display none -serial none -kernel app.elf
"$pugmark" record --quiet --from app.path --protocol etmv4 --set return_stack=0 --force --out trace

"$pugmark" coverage --format lcov --output coverage.info --elf app.elf trace
code=0
"$pugmark" check --format junit --output junit.xml "$here/rules.txt" --elf app.elf trace || code=$?
"$pugmark" check "$here/rules.txt" --elf app.elf trace || true
exit "$code"
