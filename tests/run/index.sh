#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark index and find: the file is made, used, refused when damaged, and made anew.
#   index.sh BIN SOURCE
set -u
bin=${1:?usage: index.sh BIN SOURCE} source=${2:?usage: index.sh BIN SOURCE}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pugmark=$bin/pugmark
demo=$work/demo
cp -r "$source/examples/demo" "$demo"
file=$demo/trace.bin.pugindex
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

without=$("$pugmark" find "$demo" --sync) || fail "find without an index"
"$pugmark" index "$demo" >/dev/null || fail "index"
[[ -f $file ]] || fail "no index file"
with=$("$pugmark" find "$demo" --sync) || fail "find with an index"
[[ $with == "$without" ]] || fail "'$with' with the index, '$without' without"
"$pugmark" find "$demo" --event 77 2>/dev/null && fail "found what is not there"
"$pugmark" find "$demo" 2>/dev/null
(($? == 2)) || fail "nothing to look for was accepted"

printf 'x' | dd of="$file" bs=1 seek=150 conv=notrunc 2>/dev/null
"$pugmark" find "$demo" --sync 2>"$work/said" && fail "a damaged index was used"
grep -q damaged "$work/said" || fail "the damage was not named"
"$pugmark" index "$demo" 2>/dev/null && fail "a damaged index was replaced unasked"
"$pugmark" index "$demo" --rebuild >/dev/null || fail "rebuild"
"$pugmark" find "$demo" --sync >/dev/null || fail "find after the rebuild"

printf 'x' | dd of="$demo/trace.bin" bs=1 seek=100 conv=notrunc 2>/dev/null
"$pugmark" find "$demo" --sync 2>"$work/said" && fail "a foreign index was used"
grep -q 'another capture' "$work/said" || fail "the foreign index was not named"
exit 0
