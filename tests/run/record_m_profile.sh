#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A list of addresses of an M profile core is T32, whether bit 0 is set or not: the program or --core says what core
# it is. A path with A32 instructions is not one of such a core.
#   record_m_profile.sh BIN SOURCE
set -eu
pugmark=$1/pugmark
command -v clang >/dev/null && command -v ld.lld >/dev/null ||
  { echo "skipped: there is no clang and lld here to make a program for a Cortex-M"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
printf '.syntax unified\n.thumb\n.global _start\n.thumb_func\n_start: nop\n adds r0, #1\n b _start\n' >program.s
clang --target=arm-none-eabi -mcpu=cortex-m4 -c program.s -o program.o 2>said ||
  { echo "skipped: this clang makes nothing for Arm"; exit 77; }
ld.lld -Ttext=0x1000 -e _start program.o -o m.elf
clang --target=arm-none-eabi -march=armv7-a -c program.s -o program.o
ld.lld -Ttext=0x1000 -e _start program.o -o a.elf
printf '1000\n1002\n1004\n1000\n1002\n' >even
printf '1001\n1003\n1005\n1001\n1003\n' >odd
for words in "even m.elf" "odd m.elf" "even a.elf --core Cortex-M4" "odd a.elf"; do
  read -ra word <<<"$words"
  "$pugmark" record --quiet --protocol etmv4 --from "${word[0]}" --elf "${word[@]:1}" --out made
  "$pugmark" pc --quiet made | cmp - even || { echo "$words: other instructions"; exit 1; }
  rm -rf made
done
printf 'pugpath\1\2\0\1B\1\0\4\0\0\240\343E\0\0\1\1Z' >a32.path
"$pugmark" record --protocol etmv4 --from a32.path --core Cortex-M4 --out made 2>said && exit 1
grep -q 'Cortex-M4: the path has A32 instructions' said || { cat said; exit 1; }

# No other core has a Micro Trace Buffer.
"$pugmark" record --protocol mtb --from odd --elf a.elf --out mtb 2>said && exit 1
grep -q 'only cores of the M profile have such a trace unit' said || { cat said; exit 1; }
