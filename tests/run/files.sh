#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files that are not what they seem: that shrink while they are read, that cannot be read to the end, that are FIFOs or devices,
# that name more sources than anybody has.
set -u
bin=$1 source=$2 bad=0
shim=$(dirname "$bin")/tests/fault_shim.so
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1

wrong() { echo "$*"; bad=1; }
expect() { # CODE TEXT COMMAND…
    local want=$1 text=$2 code
    shift 2
    timeout 300 "$@" >out 2>said
    code=$?
    ((code == want)) || wrong "$*: exit $code, expected $want: $(head -n 1 said)"
    grep -q -- "$text" said || wrong "$*: does not say '$text': $(head -n 1 said)"
}

# ---- shrinking ----
# Nobody reads the output, so that the command stands still in the middle; then the file is cut short.
shrink() {
    local reader code
    cp -r "$source/tests/captures/etmv4-a64-broadcast" shrinks
    for ((i = 0; i < 5; i++)); do cat "$source/tests/captures/etmv4-a64-broadcast/trace.bin"; done >shrinks/trace.bin
    mkfifo pipe
    timeout 300 "$bin/pugmark" list --jobs 1 --packets shrinks >pipe 2>said &
    reader=$!
    exec 3<pipe
    IFS= read -r -n 1 _ <&3
    truncate -s 5000 shrinks/trace.bin
    cat <&3 >out
    exec 3<&-
    wait $reader
    code=$?
    ((code == 3)) || wrong "a trace that shrank: exit $code"
    grep -q 'trace.bin, offset [0-9]*: the file shrank' said || wrong "a trace that shrank: $(head -n 1 said)"
}
if [[ $(head -c 2 "$bin/pugmark") == "#!" ]]; then
    echo "passed over: QEMU's user mode stops where a file ends that was mapped"
else
    shrink
fi

# ---- reading fails ----
if [[ -e $shim ]]; then
    cp -r "$source/examples/demo" demo
    for kind in read memory; do
        seen=0
        for ((at = 1; at < 40; at++)); do
            timeout 300 env LD_PRELOAD="$shim" FAULT_KIND=$kind FAULT_AT=$at FAULT_ON=1 FAULT_COUNT="$work/count" \
                "$bin/pugmark" list demo >out 2>said
            code=$?
            grep -q 'what was decoded of it is not true' said && seen=1
            ((code == 0)) && [[ $kind == read ]] && (($(cat count) >= at)) && wrong "a read that fails ($at): exit 0"
            [[ $kind == memory ]] && break
        done
        [[ $kind == memory ]] || ((seen)) || wrong "program memory that cannot be read: not said"
    done
fi

# ---- temporary files: where TMPDIR says ----
cp -r "$source/examples/demo" by-thread
TMPDIR=$work/nowhere expect 3 "no temporary file in .*nowhere: No such file" "$bin/pugmark" pc --by-thread by-thread
"$bin/pugmark" record --quiet --from "$source/tests/captures/etmv4-a64/path" --protocol etmv4 --limit 5000 --perf recorded.data || wrong "record"
TMPDIR=$work/nowhere expect 3 "no temporary file in .*nowhere: No such file" "$bin/pugmark" stat - <recorded.data
mkdir temporary
TMPDIR=$work/temporary "$bin/pugmark" pc --by-thread by-thread >out 2>said || wrong "pc --by-thread: $(head -n 1 said)"
rmdir temporary || wrong "pc --by-thread: a temporary file is left"

# ---- no trace at all ----
head -c 1000 recorded.data >cut.data
for command in "index --rebuild" "find --sync" itm; do
    expect 3 "no hardware trace in it" "$bin/pugmark" $command cut.data
done

# ---- what is no file ----
cp -r "$source/examples/demo" demo2
"$bin/pugmark" index --quiet demo2 || wrong "no index"
index=$(find demo2 -name '*.pugindex')
rm -f "$index"
mkfifo "$index" fifo
expect 3 . "$bin/pugmark" find --sync demo2
expect 3 . "$bin/pugmark" index demo2
rm "$index"
ln -s /dev/zero "$index"
expect 3 . "$bin/pugmark" find --sync demo2
head -c 4096 /dev/urandom >trace
for what in fifo /dev/zero .; do
    expect 3 "$what" "$bin/pugmark" stat --protocol etrace --set xlen=64 --elf "$what" trace
    expect 3 "$what" "$bin/pugmark" stat --protocol etrace --set xlen=64 --image "$what@0x1000" trace
    expect 3 "$what" "$bin/pugmark" stat --protocol etrace --params "$what" trace
    printf 'source 1 = %s\n' "$what" >params
    expect 3 . "$bin/pugmark" stat --protocol etrace --params params trace
done
expect 3 fifo "$bin/pugmark" merge --output merged fifo

# ---- output that is no file: written as it comes ----
printf 'packet 1 0 2b\n' >lines
cp -r "$source/examples/crash" crash
put() { # COMMAND ...: to a device, a FIFO, and what standard output is; the same as to a file
    rm -f wanted
    "$bin/pugmark" "$@" -o wanted 2>/dev/null
    "$bin/pugmark" "$@" -o /dev/null 2>said || wrong "$1 -o /dev/null: $(head -n 1 said)"
    [[ -c /dev/null ]] || wrong "$1 replaced /dev/null"
    cat fifo >got &
    timeout 60 "$bin/pugmark" "$@" -o fifo 2>said || wrong "$1 -o fifo: $(head -n 1 said)"
    wait $!
    [[ -p fifo ]] && cmp -s wanted got || wrong "$1 -o fifo: other bytes"
    { "$bin/pugmark" "$@" -o /dev/stdout 2>said || wrong "$1 -o /dev/stdout: $(head -n 1 said)"; } | cat >got
    cmp -s wanted got || wrong "$1 -o /dev/stdout: other bytes"
    # shellcheck disable=SC2094
    "$bin/pugmark" "$@" -o /dev/full 2>said && wrong "$1 -o /dev/full: written"
    grep -q 'No space left' said || wrong "$1 -o /dev/full: $(head -n 1 said)"
}
put encode --set src_bits=8 lines
put profile --jobs 1 crash
put profile --format callgrind --jobs 1 crash
put timeline --format chrome --jobs 1 crash
put diff crash crash
expect 3 'not a regular file' "$bin/pugmark" index --output fifo crash
expect 3 'not a regular file' "$bin/pugmark" index --output /dev/null crash

# ---- out of the folder ----
mkdir caught
cp -r "$source/examples/demo" caught/demo
timeout 300 "$bin/pugmark" list --confine caught/demo >inside 2>said || wrong "--confine: a snapshot that stays inside: $(head -n 1 said)"
mv caught/demo/trace.bin caught/trace.bin
ln -s ../trace.bin caught/demo/trace.bin
timeout 300 "$bin/pugmark" list caught/demo >out 2>said && cmp -s out inside || wrong "a link is not followed"
expect 3 "trace.bin: not in the snapshot's folder" "$bin/pugmark" list --confine caught/demo
rm caught/demo/trace.bin
sed -i 's|^file *= *trace.bin|file=../trace.bin|' caught/demo/trace.ini
timeout 300 "$bin/pugmark" list caught/demo >out 2>said && cmp -s out inside || wrong "../ is not followed"
expect 3 "trace.bin: not in the snapshot's folder" "$bin/pugmark" list --confine caught/demo
sed -i 's|^file=../trace.bin|file=trace.bin|' caught/demo/trace.ini
mv caught/trace.bin caught/demo
device=$(sed -n 's/^device0 *= *//p' caught/demo/snapshot.ini)
mv "caught/demo/$device" caught/device.ini
sed -i "s|^device0 *=.*|device0=../device.ini|" caught/demo/snapshot.ini
expect 3 "device.ini: not in the snapshot's folder" "$bin/pugmark" list --confine caught/demo

# ---- sources ----
# 300 modules of an Open SoC Debug trace: DEST, SRC, FLAGS (event), payload.
for ((id = 0; id < 300; id++)); do
    printf "\\x00\\x06\\x00\\x00\\x$(printf %02x $((id >> 8)))\\x$(printf %02x $((id & 255)))\\x84\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
done >many
expect 1 'trace of 300 sources.*only 256' "$bin/pugmark" stat --protocol osd-stm --transport osd many
timeout 300 "$bin/pugmark" stat --source-limit 400 --protocol osd-stm --transport osd many >out 2>said
grep -q 'trace of 300' said && wrong "--source-limit 400: still too many"
expect 1 'only 7' "$bin/pugmark" index --rebuild --output here --source-limit 7 --protocol osd-stm --transport osd many
exit $bad
