#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Code that is written while the program runs: memory at an address is what ran there at that time.
set -eu
bin=$1 source=$2
command -v qemu-aarch64 >/dev/null || { echo "needs QEMU's user emulators, which are not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bash "$source/tests/truth/build.sh" "$tmp" writes.a64 || { echo "needs clang and lld, which are not installed"; exit 77; }
"$bin/pugmark" record --quiet --protocol etmv4 --out "$tmp/a64" -- "$tmp/writes.a64" 1 >"$tmp/said"
ask() { perl "$source/tests/support/gdb_ask.pl" "$bin/pugmark" gdb --quiet --stdio "$tmp/a64" -- "$@" 2>/dev/null; }
# Addresses of written code, and the versions in which each ran.
for ((n = 0; n < 3; n++)); do
  "$bin/pugmark" pc --quiet --buffer buffer_$n "$tmp/a64" 2>/dev/null | sort -u | sed "s/$/ $n/"
done | awk -v from="$(sed -n '/^file=memory_1.bin/{n;s/address=0x//p}' "$tmp/a64/cpu_0.ini")" '$1 >= from && length($1) == length(from)' |
  sort >"$tmp/ran"
begin=$(sed -n '/^file=memory_1.bin/{n;s/address=//p}' "$tmp/a64/cpu_0.ini")
addresses=$(cut -d' ' -f1 "$tmp/ran" | uniq -d)
[[ $addresses ]] || { echo "no code was written twice"; exit 1; }
checked=0 others=0
for address in $addresses; do
  before=
  position='#0'
  while read -r _ version; do
    # The dump of that version is what ran.
    file=$tmp/a64/memory_1.bin
    ((version == 0)) || file=$tmp/a64/memory_1_v$((version + 1)).bin
    wanted=$(dd if="$file" bs=1 skip=$((0x$address - begin)) count=4 2>/dev/null | od -An -tx1 | tr -d ' \n')
    # The first position there in that version's buffer: the next one that is not of the version before.
    for ((n = 0; n < 20; n++)); do
      said=$(ask "monitor goto $position" "monitor find address 0x$address" | tail -n 1)
      position=$(sed -n 's/^\(#[0-9]*\) .*/\1/p' <<<"$said")
      [[ $position ]] || { echo "0x$address is not found in version $version"; exit 1; }
      got=$(ask "monitor goto $position" 'monitor where' "m$address,4")
      [[ $got != *" of buffer_$version,"* ]] || break
    done
    got=$(tail -n 1 <<<"$got")
    [[ $got == "$wanted" ]] || { echo "0x$address at $position (version $version): $got, but $wanted ran"; exit 1; }
    checked=$((checked + 1))
    [[ ! $before || $before == "$wanted" ]] || others=$((others + 1))
    before=$wanted
  done < <(grep "^$address " "$tmp/ran")
done
echo "$checked places, $others of which had other code before"
((others > 0))
