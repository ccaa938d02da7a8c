#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Small inputs that once drove much work or memory, or were read past their end, are refused or done within
# bounds, with a message that says what to do. Each case's first line says what went wrong.
#   hostile_input.sh BIN SOURCE
set -u
bin=${1:?usage: hostile_input.sh BIN SOURCE} source=${2:?usage: hostile_input.sh BIN SOURCE}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
pugmark=$bin/pugmark
fail() {
    echo "FAILED: $*" >&2
    [[ -s said ]] && cat said >&2
    exit 1
}
# run WANTED-EXIT-CODE ARGUMENT...
run() {
    local want=$1
    shift
    timeout 60 "$pugmark" "$@" >out 2>said
    local got=$?
    ((got == want)) || fail "pugmark $*: exit code $got, not $want"
}

# An index whose first byte lay behind its limit was written behind its blocks.
perl -e 'print "\x01\x41" x 50000' >itm.bin
as_itm=(--protocol ITM --transport plain)
run 2 index "${as_itm[@]}" --block 1024 --from 90000 --limit 1000 itm.bin
grep -q -- '--from 90000: must be before --limit 1000' said || fail "the limit is not named"
run 2 index "${as_itm[@]}" --block 1024 --from 1200 --limit 1200 itm.bin
run 2 index "${as_itm[@]}" --block 1024 --from 100000 itm.bin
grep -q 'the trace has 100000 bytes' said || fail "the trace's size is not named"
[[ ! -e itm.bin.pugindex ]] || fail "an index was left"
run 0 index "${as_itm[@]}" --block 1024 --from 1024 --limit 1100 itm.bin
grep -q 'ITM: 76 bytes' out || fail "not the 76 bytes that were asked for: $(cat out)"

# What an atomic instruction is was looked for in bytes that a compressed one does not have.
echo 'core   0: 3 0x80000110 (0x8082)' >compressed.spike
run 0 record --protocol etrace --data --from compressed.spike --out compressed
