#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The project's own captures: what is decoded is what ran; and where it is not, that is found.
set -eu
bin=$1 captures=$2/tests/captures count=0
for folder in "$captures"/*/; do
  said=$("$bin/pugmark" pc "$folder" --verify "$folder/path") && [[ $said == equal:* ]] ||
    { echo "$folder: $said"; exit 1; }
  count=$((count + 1))
done
[[ $count -gt 10 ]]

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
differs() { # words, capture, path
  local code=0
  "$bin/pugmark" pc "$2" --verify "$3" >"$work/said" 2>&1 || code=$?
  [[ $code == 1 ]] && grep -q "$1" "$work/said" || { echo "$2, $3: $code"; cat "$work/said"; exit 1; }
}
# The path of another run, a trace that ends too early, another program in memory.
differs 'differs: processor 0, instruction [0-9]*: the trace tells 0x' "$captures/etmv4-a64-cycles" "$captures/ete-a64-loss/path"
grep -q 'its packet: index [0-9]*, source 0x10: I_' "$work/said"
cp -r "$captures/etrace-rv64" "$work/short"
truncate -s -2000 "$work/short/trace.bin"
differs 'the trace ends after [0-9]* of 300' "$work/short" "$captures/etrace-rv64/path"
cp -r "$captures/ptm-arm" "$work/other"
printf '\x00\x00\x00\xea' | dd of="$work/other/memory_0.bin" bs=1 seek=272 conv=notrunc status=none # a branch
differs 'differs' "$work/other" "$captures/ptm-arm/path"
echo nonsense >"$work/path"
! "$bin/pugmark" pc "$captures/ptm-arm" --verify "$work/path" 2>"$work/said"
grep -q 'no path file' "$work/said"
