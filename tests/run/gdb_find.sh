#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `monitor find` finds what `pugmark find` does, and `monitor where` has the words of the packet.
set -eu
bin=$1 source=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
capture=$source/examples/crash
ask() { perl "$source/tests/support/gdb_ask.pl" "$bin/pugmark" gdb --quiet --stdio "$capture" -- "$@"; }
checked=0
# Packets, from some offset on or back from there: both say the same offset and value, or that there is none.
for what in sync trace-on trigger discard transaction overflow 'timestamp 8768655' 'timestamp 9999999' 'event 1' 'context 0' 'vmid 1'; do
  for place in '' 'after 30' 'before 200' 'before 10'; do
    read -ra words <<<"--$what ${place:+--$place}"
    wanted=$("$bin/pugmark" find --quiet "${words[@]}" "$capture" 2>/dev/null |
      perl -ne '/^ *(\d+) +\w+ +(\w+)/ and print "$1 ", $2 =~ /^0x/ ? hex $2 : $2') || true
    said=$(ask "monitor find $what ${place:-after 0}")
    got=$(sed -n 's/^trace offset \([0-9]*\), source 0x[0-9a-f]*, value \([0-9]*\).*/\1 \2/p' <<<"$said")
    [[ $got == "$wanted" ]] || { echo "find $what $place: $said; pugmark find says: $wanted"; exit 1; }
    checked=$((checked + 1))
  done
done
[[ $checked == 44 ]]
# The same with dashes; exceptions by number; addresses by function and line.
[[ $(ask 'monitor find --sync --after 0') == "$(ask 'monitor find sync after 0')" ]]
[[ $(ask 'monitor find exception 12') == *'before exception 12 (data fault)'* ]]
[[ $(ask 'monitor find exception 11') == nothing* ]]
[[ $(ask 'monitor find address find') == "$(ask 'monitor find address 0x210378')" ]]
[[ $(ask 'monitor find address crash.c:64') == *crash.c:64* ]]
# The words of packets.
"$bin/pugmark" list --quiet --packets "$capture" >"$tmp/packets"
for place in '#0' '#100' '#400' exception end; do
  said=$(ask "monitor goto $place" 'monitor where')
  offset=$(sed -n 's/^trace offset \([0-9]*\) .*/\1/p' <<<"$said")
  words=$(sed -n 's/^packet //p' <<<"$said")
  [[ $words && $(awk -v offset="$offset" '$1 == offset' "$tmp/packets") == *"$words"* ]] || { echo "$place: $said"; exit 1; }
done
