#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make.sh BIN: makes the captures of events here, with random choices of the encoders.
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
# Memory with a ring of an MTB in it: a loop that calls, an exception, and an interrupt that another one follows.
words() { for word; do printf '\x'"${word:6:2}"'\x'"${word:4:2}"'\x'"${word:2:2}"'\x'"${word:0:2}"; done; }
mkdir -p "$here/mtb"
words 20001000 00000041 0000005b 0000005d 00000000 00000000 00000000 00000000 00000000 00000000 00000000 0000005f \
    00000000 00000000 00000063 00000065 38012003 f805f000 d1fa2800 bf00df00 b500e7fe bd00bf00 47704700 bf004770 \
    47704770 00004770 >"$here/mtb/memory_0.bin"
{
    words deadbeef 20000010 00000041 00000000 aaaaaaaa aaaaaaaa 00000001 80000000
    words 00000060 fffffff8 fffffff9 00000052 00000055 00000062 00000062 fffffff8 \
        fffffff9 00000064 00000064 fffffff8 fffffff9 00000054 00000056 00000048
    for i in 1 2 3 4 5; do words 0000004a 00000042 00000044 00000052 00000056 00000048; done
    words 0000004a 00000042 00000044 00000052 00000056 00000048 0000004f 0000005e 00000060 fffffff8
    words fffffff9 0000004e 00000050 00000050 00000050 00000050 00000000 00000000 20000020 00000052
} >"$here/mtb/trace.bin"
sed '/source_[12]/d; s/format=osd/format=source_data/' "$here/osd/trace.ini" >"$here/mtb/trace.ini"
sed '/source_[12]/d' "$here/osd/snapshot.ini" >"$here/mtb/snapshot.ini"
printf '[device]\nname=source_0\nclass=trace_source\ntype=MTB\n\n[regs]\nVTOR=0\n\n[dump0]\nfile=memory_0.bin\naddress=0\nlength=0x68\n' \
    >"$here/mtb/source_0.ini"
