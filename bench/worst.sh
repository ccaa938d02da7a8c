#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# worst.sh PUGMARK: what a byte of trace may cost at most, as far as is known: for each protocol an input whose bytes stand for as
# much execution as the format and the default bounds let them, decoded on one thread (`stat --jobs 1`), in the processor's time.
set -eu
pugmark=$(readlink -f "${1:?usage: worst.sh PUGMARK}")
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
again() { for ((i = 0; i < $2; i++)); do printf "$1"; done; }      # BYTES TIMES
filled() { head -c "$2" /dev/zero | tr '\0' "$1"; }                 # BYTE TIMES
TIMEFORMAT=%U
printf '%-34s %10s %14s %12s\n' "" bytes ranges "us a byte"
measure() { # WHAT FILE OPTIONS...
    local what=$1 file=$2
    shift 2
    # bad packets are what some of these are
    { time "$pugmark" stat --quiet --jobs 1 "$@" "$file" >said 2>/dev/null || true; } 2>took
    awk -v what="$what" -v seconds="$(<took)" '$2 == "INSTR_RANGE" { ranges = $1 } $2 == "bytes" { bytes = $1 }
        END { printf "%-34s %10d %14d %12.4g\n", what, bytes, ranges, seconds * 1e6 / bytes }' said
}

# Programs: a branch to itself (A64, A32), 16 MB of NOPs; RISC-V: a loop of two instructions, and of so many branches that are not
# taken, and one, or a jump, to the first of them: of 300, and of more than the code map keeps.
printf '\x00\x00\x00\x14' >self64
printf '\xfe\xff\xff\xea' >self32
filled '\037' 16777216 >nops
printf '\x01\x00\x7d\xfd' >loop
{ again '\x11\xc1' 300; printf '\xe3\x14\x05\xda'; } >branches
{ again '\x11\xc1' 400000; printf '\x6f\xc0\x13\xb0'; } >many
# Jumps to what is next, as many as there may be up to a branch that is not taken, and back to the first of them, eight jumps far.
jumps() { filled a 524277 | LC_ALL=C sed 's/a/\x09\xa0/g'; }
{
    printf '\x11\xa0\x01\x00'
    for ((i = 0; i < 7; i++)); do jumps; printf '\x19\xa0\x6f\x00\x00\x81'; done
    jumps
    printf '\x09\xe1\x6f\x00\x00\x81'
} >jumps

async='\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00'
etmv4=(--protocol ETMV4I --transport plain --core ARMv8-A --set TRCIDR0=0x28000ea1 --set TRCIDR1=0x4100f421 --set TRCIDR2=0x488 --set TRCCONFIGR=0xc1)
{ printf "$async"'\x85\x00\x08\x00\x00\x00\x00\x00\x00\x31'; filled '\324' 1000000; } >atoms
measure "ETMv4, ETE: atoms of a loop" atoms "${etmv4[@]}" --image self64@0x1000
{
    printf "$async"
    for ((at = 0; at < 1000; at++)); do # each from another address, to the end of the NOPs' bound
        printf -v packets '\\x85\\x%02x\\x%02x\\x00\\x00\\x00\\x00\\x00\\x00\\x31\\xf7' $((at % 128)) $((8 + at / 128))
        printf "$packets"
    done
} >walks
measure "ETMv4, ETE: walks through NOPs" walks "${etmv4[@]}" --image nops@0x1000
{ printf '\x00\x00\x00\x00\x00\x80\x08\x00\x10\x00\x00\x28'; filled '\300' 1000000; } >atoms
measure "PTM: atoms of a loop" atoms --protocol PTM --transport plain --core Cortex-A9 --set ETMIDR=0x4100f310 --set ETMCR=0 --set ETMCCER=0 \
    --image self32@0x1000
{ printf '\x00\x00\x00\x00\x00\x80\x08\x28\x00\x10\x00\x00'; filled '\274' 1000000; } >headers
measure "ETMv3: P-headers of a loop" headers --protocol ETMV3 --transport plain --core Cortex-A5 --set ETMIDR=0x4110f250 --set ETMCR=0 \
    --set ETMCCER=0x34400000 --image self32@0x1000
{ printf '\x24\x0d\x00\x83'; again '\x6c\xc8\xfc\xfc\xfc\xfc\xfd\xfc\xfc\xff' 20; } >messages
measure "N-Trace: repeated histories" messages --protocol N-Trace --image loop@0x1000
{ printf '\x24\x0d\x00\x83\x0c\xb8\x13'; again '\x78\xa4\x6c\xdb' 10; } >messages
measure "N-Trace: repeated branches" messages --protocol N-Trace --image branches@0x1000
{ printf '\x24\x0d\x00\x83\x0c\x08\xa8\x84\x07'; again '\x78\x9c\x0b' 1; } >messages
measure "N-Trace: … of more than is kept" messages --protocol N-Trace --image many@0x1000
{ printf '\x24\x0d\x00\x83'; again '\x6c\x87' 8; } >messages
measure "N-Trace: jumps in a history" messages --protocol N-Trace --image jumps@0x1000
printf '%s\n' 'xlen = 64' 'iaddress_width_p = 64' 'iaddress_lsb_p = 1' 'bpred_size_p = 10' 'srcid_bits = 0' >params
# 8,388,500 that were predicted, and one that was not; and 67 million, of which the bound is met by as many
for program in loop many; do
    for packet in d4fdff0100 84feff0f00; do
        again "packet 0 0 630004\npacket 0 0 0100000000\npacket 0 0 $packet\n" $([[ $program == loop ]] && echo 10 || echo 1) >lines
        "$pugmark" encode --output packets lines
        measure "E-Trace: $([[ $packet == d* ]] && echo "predicted branches" || echo "… beyond the bound") ($program)" packets \
            --protocol E-Trace --params params --transport encapsulation --image $program@0x1000
    done
done
for capture in osd osd-flow stm itm dwt; do # no byte of these stands for much: their own trace, many times
    cp -r "$source/fuzz/captures/$capture" folder
    while (($(stat -c %s folder/trace.bin) < 1000000)); do cat "$source/fuzz/captures/$capture/trace.bin" >>folder/trace.bin; done
    measure "capture $capture" folder
    rm -r folder
done
