#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Several sources in one trace: whose the lines of pc are, and a program for each source.
set -eu
bin=$1 source=$2
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
bytes() { for byte in $*; do printf "\\x$byte"; done; }
want() { # NAME WANTED GOT
  [[ $2 == "$3" ]] || { printf '%s:\nwant %q\ngot  %q\n' "$1" "$2" "$3"; exit 1; }
}

# N-Trace of two harts, SRC 0 and 1: sync at 100, one halfword ran, trace off.
bytes 24 29 00 0b 24 2d 00 0b 84 00 0b 84 04 0b >"$tmp/two.nex"
bytes 01 00 01 00 01 00 01 00 >"$tmp/nops.bin"
ntrace="--protocol ntrace --set xlen=64 --set src_bits=1"
want both $'100\t0x00\n100\t0x01' "$("$bin/pugmark" pc $ntrace --image "$tmp/nops.bin@0x100" "$tmp/two.nex")"
want one 100 "$("$bin/pugmark" pc $ntrace --source 1 --image "$tmp/nops.bin@0x100" "$tmp/two.nex")"

# A program for each: what the other has it does not see.
code=0
got=$("$bin/pugmark" pc $ntrace --image "$tmp/nops.bin@0x100@SOURCE=1" "$tmp/two.nex" 2>"$tmp/said") || code=$?
want own $'100\t0x01' "$got"
want code 1 "$code"
grep -q 'source 0x00: execution came 1 time to addresses' "$tmp/said"
want each $'100\t0x00\n100\t0x01' "$("$bin/pugmark" pc $ntrace --image "$tmp/nops.bin@0x100@SOURCE=1" \
  --image "$tmp/nops.bin@0x100@source=0" "$tmp/two.nex")"
code=0
"$bin/pugmark" pc $ntrace --image "$tmp/nops.bin@0x100@SOURCE=x" "$tmp/two.nex" 2>/dev/null || code=$?
want usage 2 "$code"

# Many images are no trouble.
images=()
for i in {1..5000}; do images+=(--image "$tmp/nops.bin@$((0x1000 + i * 16))"); done
want many 100 "$("$bin/pugmark" pc $ntrace --source 1 "${images[@]}" --image "$tmp/nops.bin@0x100" "$tmp/two.nex")"

# Four harts that run four programs.
multi=$source/../shared/vectors/ntrace/multi
[[ ${PUG_PART-} != own ]] || exit 0
[[ -d $multi ]] || { echo "skipped: no vectors at $multi"; exit 77; }
for hart in 1 2 3 9; do
  "$bin/pugmark" pc --protocol ntrace --set xlen=64 --set src_bits=4 --source $hart \
    --set implicit_return=$((hart != 9)) --elf "$multi/traps.elf@SOURCE=1" \
    --elf "$multi/qsort.elf@SOURCE=2" --elf "$multi/basic.elf@SOURCE=3" \
    --elf "$multi/pmp.elf@SOURCE=9" "$multi/four-harts.nex" >"$tmp/got"
  xz -dc "$multi/four-harts.src$hart.exp.xz" | grep -v '^@' | sed 's/^0x//' | cmp - "$tmp/got"
done
