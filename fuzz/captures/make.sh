#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make.sh BIN: the captures of events here anew, with choices of encoders left to chance.
set -eu
bin=$1 here=$(cd "$(dirname "$0")" && pwd)
make() { # NAME PROTOCOL: events on standard input
    rm -rf "${here:?}/$1"
    "$bin/pugmark" record --quiet --force --script - --protocol "$2" --sync 40 --random 7 --out "$here/$1"
}
awk 'BEGIN {
    for (i = 0; i < 60; i++) {
        print "master", i % 5 * 40, "\nchannel", i * 37 % 700, "\nat", 1000 + i * i * i
        print "write 8", i, "timed\nwrite 16", i * 99, "\nwrite 32", i * 65537, "marked\nwrite 64 0x1122334455667788 marked timed"
        print "write 4", i % 16, "\ntext \"claw " i "\" timed\nflag timed\nnull\ntrigger", i, "timed"
        if (i % 9 == 0) print "error", i, "\nfrequency 1000000\nmaster-error 3"
    } }' | make stm stm
awk 'BEGIN {
    for (i = 0; i < 60; i++) {
        print "at", i * i * 50, "\nwrite", i % 40, "4", i * 65537, "\nwrite 3 2", i, "\nwrite 200 1", i % 256, "\ntext 1 \"paw" i "\""
        if (i % 7 == 0) print "time", i * 100000, "\noverflow"
    } }' | make itm itm
awk 'BEGIN {
    for (i = 0; i < 60; i++) {
        print "at", i * 90, "\nexception 15 entered\nexception 15 exited\nexception 0 returned\nsample", 134217728 + i * 2
        print "data", i % 4, "pc=" (134217728 + i), "value=" i, (i % 2 ? "read" : "written"), "size=4\ncounters", i % 64
        print "data", i % 4, "address=" (i * 16 % 65536), "\nsample sleeping"
    } }' | make dwt dwt
awk 'BEGIN {
    for (i = 0; i < 60; i++) {
        print "ctm 3 64", 1000 + i * 5, 4096 + i * 4, 8192 + i * 8, (i % 3 ? 4 : 8)
        print "stm 5 32", 1002 + i * 5, i, i * 77, "\nstm 6 64", 1003 + i * 5, i, i
        if (i % 11 == 0) print "overflow 3", i, "\nregister 2", i, i
    } }' | make osd osd
# Jumps of a recorded program, the program beside it: what ran between two of them is found.
from=$here/../../tests/captures/etrace-rv32
"$bin/pugmark" list --quiet --format jsonl --source 0 "$from" | perl -ne '
    next unless /INSTR_RANGE/;
    my ($start, $end, $size) = (/"start": "(0x\w+)", "end": "(0x\w+)".*"last_size": (\d)/) or next;
    my $flags = /"conditional": true|"last_type": "other"/ ? 0 : /indirect/ ? 4 : 8;
    printf "ctm 3 32 %d %s 0x%x %d\n", 1000 + 3 * $., $start, $last, $was if $was;
    print "overflow 3 2\n" if $was && $. % 300 == 0;
    ($last, $was) = (hex($end) - $size, $flags);
    last if $. > 1500' | make osd-flow osd
cp "$from"/memory_*.bin "$here/osd-flow"
{
    echo xlen=32
    echo
    sed -n '/^\[dump0\]/,$p' "$from/trace_0.ini"
} >>"$here/osd-flow/source_0.ini"
