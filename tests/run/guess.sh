#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `info` takes an unknown file for: recordings of each protocol, with ids of each usual width, for what they are; programs,
# objects and dumps for nothing that is known.
set -eu
bin=$1 captures=$2/tests/captures
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
bad=0 count=0

# looks PATTERN FILE: the first guess is that.
looks() {
  local second=
  count=$((count + 1))
  "$bin/pugmark" info "$2" >"$work/said" 2>&1 || true
  { read -r && read -r second; } <"$work/said" || true
  # shellcheck disable=SC2053
  [[ $second == $1 ]] && return
  echo "$2 ($what): expected '$1', got:"
  cat "$work/said"
  bad=1
}
# record CAPTURE PROTOCOL OPTION...
record() {
  what="$*"
  "$bin/pugmark" record --quiet --from "$captures/$1/path" --protocol "$2" --out "$work/out" "${@:3}"
}

for each in etmv4-a64:etmv4:ETMV4I ete-a64:ete:ETMV4I etmv3-arm:etmv3:ETMV3 ptm-arm:ptm:PTM; do
  IFS=: read -r capture protocol name <<<"$each"
  record "$capture" "$protocol"
  looks "looks like * $name in coresight*" "$work/out/trace.bin"
done
for xlen in 32 64; do
  for width in 0 1 2 3 4 6 8 10 12; do
    record ntrace-rv$xlen ntrace --set src_bits=$width
    looks "looks like * N-Trace in nexus, --set src_bits=$width" "$work/out/trace.bin"
  done
  for width in 0 1 2 3 4 6 8 12; do
    record etrace-rv$xlen etrace --set src_bits=$width
    [[ $width == 0 ]] && set_ids= || set_ids=", --set srcid_bits=$width"
    looks "looks like * E-Trace in encapsulation$set_ids" "$work/out/trace.bin"
  done
done
what=modules
for i in {1..20}; do
  echo "stm 5 32 $i $i $i"
  echo "ctm 3 64 $i 0x1000 0x2000 4"
done >"$work/lines"
"$bin/pugmark" encode --format osd -o "$work/trace.dtd" "$work/lines"
looks "looks like * OSD-?TM in osd" "$work/trace.dtd"

# A wrong width ends with the right one; the right one of a trace that is damaged with none.
record ntrace-rv64 ntrace --set src_bits=4
trace=$work/out/trace.bin
list() { "$bin/pugmark" list --protocol ntrace --set xlen=64 --set src_bits=$1 "$trace" >/dev/null 2>"$work/said" || true; }
list 3
grep -q 'its packets are right with --set src_bits=4 (' "$work/said" || { echo "a wrong width:"; cat "$work/said"; bad=1; }
perl -e 'open my $trace, "+<:raw", $ARGV[0] or die; for (0 .. 28) { seek $trace, 999 + 500 * $_, 0; print $trace "\2" x 4 }' "$trace"
list 4
grep -q ' bad packets' "$work/said" && ! grep -q 'right with' "$work/said" || { echo "damage:"; cat "$work/said"; bad=1; }

what="no trace" others=$count
for file in "$captures"/*/memory_0.bin "$bin"/[p-t]* "$bin"/../lib/* "$2"/docs/[a-m]*.md "$2"/cmake/* "$bin"/../tests/test_*; do
  [[ -f $file && -s $file && ! -L $file ]] || continue
  if head -c 4 "$file" | grep -qa ELF; then # which is told by its beginning: here only the rest is looked at
    tail -c +5 "$file" >"$work/rest"
    file=$work/rest
  fi
  looks "looks like nothing that is known here" "$file"
  [[ $((count - others)) -lt 36 ]] || break
done
[[ $((count - others)) -gt 30 ]]
exit $bad
