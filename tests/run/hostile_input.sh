#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Small inputs that once drove much work or memory, or were read past their end, are refused or done within
# bounds, with a message that says what to do. Each case's first line says what went wrong.
#   hostile_input.sh BIN SOURCE
set -u
bin=${1:?usage: hostile_input.sh BIN SOURCE} source=${2:?usage: hostile_input.sh BIN SOURCE}
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
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

# An index whose first byte lay after its limit was written beyond its blocks.
perl -e 'print "\x01\x41" x 50000' >itm.bin
as_itm=(--protocol ITM --transport plain)
run 2 index "${as_itm[@]}" --block 1024 --from 90000 --limit 1000 itm.bin
grep -q -- '--from 90000: must be before --limit 1000' said || fail "the limit is not named"
run 2 index "${as_itm[@]}" --block 1024 --from 1200 --limit 1200 itm.bin
run 2 index "${as_itm[@]}" --block 1024 --from 100000 itm.bin
grep -q 'the trace has 100000 bytes' said || fail "the trace's size is not named"
[[ ! -e itm.bin.pugindex ]] || fail "an index was left"
run 1 index "${as_itm[@]}" --block 1024 --from 1024 --limit 1100 itm.bin
grep -q 'ITM: 76 bytes' out || fail "not the 76 bytes that were asked for: $(cat out)"

# What an atomic instruction is was looked for in bytes that a compressed one does not have.
echo 'core   0: 3 0x80000110 (0x8082)' >compressed.spike
run 0 record --protocol etrace --data --from compressed.spike --out compressed

# A few bytes of a path kept `record --from` and `pc --verify` busy for ever: blocks "b ." that follow themselves.
# path_of SHIFT NAME: a path whose block ran 2 + 2^SHIFT times
path_of() {
    perl -e '
        sub leb { my ($n) = @_; my $o = ""; while ($n > 127) { $o .= chr($n & 127 | 128); $n >>= 7; } $o . chr($n) }
        my $events = leb(1) . leb(1) . leb(2 << $ARGV[0]);
        print "pugpath\x01" . leb(1) . leb(0) . leb(1) . "B" . leb(0) . leb(0x10000) . leb(4) . "\0\0\0\x14" .
            "E" . leb(0) . leb(0) . leb(length $events) . $events . "Z"' "$1" >"$2"
}
path_of 12 short.path
run 0 record --protocol etmv4 --from short.path --out short
run 0 pc --verify short.path short
grep -q '^equal: 4098 instructions' out || fail "a short repeat: $(cat out)"
for shift in 28 40 60; do
    path_of $shift long.path
    run 3 record --protocol etmv4 --from long.path --out long$shift
    grep -q 'it repeats\|it is damaged' said || fail "2^$shift repeats: not said"
    grep -q 'pugmark: 2 instructions' said || fail "2^$shift repeats: what stood before is lost"
    run 3 pc --verify long.path short
    grep -q 'it repeats\|it is damaged' said || fail "pc --verify, 2^$shift repeats: not said"
done
path_of 28 long.path
run 0 record --protocol etmv4 --from long.path --expansion 8000000 --limit 1000 --out permitted
run 2 record --protocol etmv4 --expansion 8000000 --out none -- none

# A buffer that names one file again and again was copied into memory as often.
cp -r "$source/examples/demo" many
chmod -R u+w many
cp many/trace.bin many/other.bin
sed -i 's/^file=.*/file=trace.bin,other.bin/' many/trace.ini
run 0 list --quiet many
for names in trace.bin,trace.bin trace.bin,other.bin,.//trace.bin "$(printf 'trace.bin,%.0s' {1..2000})"; do
    sed -i "s|^file=.*|file=$names|" many/trace.ini
    run 3 list many
    grep -q 'trace.bin: the buffer that it is of names this file twice' said || fail "${names:0:40}: not said"
done
