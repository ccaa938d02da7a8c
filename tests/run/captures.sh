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

# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
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

# The options of all inputs hold: sources, limits, a single file of trace. What leaves out some of the path is refused.
verify() { # STATUS PATTERN CAPTURE'S_PATH WORD...
  local status=$1 pattern=$2 path=$captures/$3/path code=0 said
  shift 3
  said=$("$bin/pugmark" pc --verify "$path" "$@" 2>&1) || code=$?
  # shellcheck disable=SC2053
  [[ $code == "$status" && $said == $pattern ]] ||
    { printf '%s: expected %q and %s, got %q and %s\n' "$*" "$pattern" "$status" "$said" "$code"; exit 1; }
}
verify 3 '*no source 0x77 in it; there are 0x*' etmv4-a64 --source 0x77 "$captures/etmv4-a64"
verify 0 '*equal: * of 1 processor' etmv4-a64 --source 0x10 "$captures/etmv4-a64"
verify 1 '*a limit was reached*differs: *' etrace-rv32 --expansion 1 "$captures/etrace-rv32"
verify 2 '*--set nothing: no such setting*' etrace-rv32 --set nothing=1 "$captures/etrace-rv32"
verify 0 '*equal: *' etrace-rv32 --sandbox "$captures/etrace-rv32"
verify 3 '*: No such file or directory' etrace-rv32 "$work/none"
for option in "--time 0,1" "--time 5," "--dso memory_0.bin"; do
  verify 2 '*--verify compares all that ran; *' etrace-rv32 $option "$captures/etrace-rv32"
done
verify 2 '*--verify and --samples exclude each other' etrace-rv32 --samples "$captures/etrace-rv32"
folder=$captures/etrace-rv64-options
sed -n 's/^\([a-z_0-9]*\)=\(.*\)/\1 = \2/p' "$folder/trace_0.ini" | grep -vE '^(name|class|type|file|address|length) ' >"$work/params"
images=()
while read -r file address; do
  images+=(--image "$folder/$file@$address")
done < <(sed -n 's/^file=//p; s/^address=//p' "$folder/trace_0.ini" | paste - -)
verify 0 '*equal: *' etrace-rv64-options --params "$work/params" --set timestamp_bytes=6 --set padding=sign \
  --transport encapsulation "${images[@]}" "$folder/trace.bin"
