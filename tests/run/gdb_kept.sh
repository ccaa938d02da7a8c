#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The history beside the index of a trace: left there where somebody made an index, read the next time, and never where
# the trace, the program or the options are others, or the file is damaged.
set -eu
bin=$1 source=$2
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
cp -r "$source/examples/crash" "$tmp/crash"
kept=$tmp/crash/trace.bin.pughistory
fail() { echo "$*"; exit 1; }
# asked: what a session says of the trace, to standard output
asked() {
  perl "$source/tests/support/gdb_ask.pl" "$bin/pugmark" gdb --quiet --stdio "$@" -- "?" 'monitor goto exception' 'monitor calls' \
    'monitor where' 'monitor history 5' 'monitor find loss' 'monitor goto end' 'monitor where'
}
first=$(asked "$tmp/crash")
[[ ! -e $kept ]] || fail "it was left where nobody made an index"
"$bin/pugmark" index "$tmp/crash" >"$tmp/said"
[[ $(asked "$tmp/crash") == "$first" && -e $kept ]] || fail "it was not left beside the index"
before=$(stat -c %i "$kept")
[[ $(asked "$tmp/crash") == "$first" && $(stat -c %i "$kept") == "$before" ]] || fail "it was not read, or says something else"
# What differs is decoded again, and kept in its place.
for change in 'printf "\377" | dd of="$kept" bs=1 seek=5000 conv=notrunc' 'truncate -s 1000 "$kept"' 'touch -d 2001-01-01 "$tmp/crash/crash"' \
  'sed -i s/A53/A57/ "$tmp/crash/cpu_0.ini"'; do
  eval "$change" 2>/dev/null
  before=$(stat -c %i "$kept")
  [[ $(asked "$tmp/crash") == "$first" ]] || fail "after $change it says something else"
  [[ $(stat -c %i "$kept") != "$before" ]] || fail "after $change it was read as if nothing had changed"
done
before=$(stat -c %i "$kept")
asked --core Cortex-A72 "$tmp/crash" >"$tmp/said"
[[ $(stat -c %i "$kept") != "$before" ]] || fail "other options read it"
# Not with --sandbox, and not where it cannot be written.
rm "$kept"
asked --sandbox "$tmp/crash" >"$tmp/said" 2>&1 || true
[[ ! -e $kept ]] || fail "it was written in spite of --sandbox"
