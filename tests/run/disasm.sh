#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Disassembly agrees with binutils' on all code of a C library, for each instruction set, after spaces and aliases are made alike.
set -u
lines=$1/../tests/disasm_lines
here=$2/tests/disasm
tried=0
compare() { # TRIPLE ISA LEAST, in 10,000ths
    local objdump=$1-objdump file=/usr/$1/lib/libc.so.6 said same all
    if ! command -v "$objdump" >/dev/null || [[ ! -e $file ]]; then
        echo "skipped $2: needs $objdump and $file"
        return
    fi
    said=$(perl "$here/compare.pl" "$objdump" "$lines" "$2" "$file")
    read -r same _ all <<<"${said%%$'\n'*}"
    echo "$2: $same of $all instructions are written alike"
    tried=$((tried + 1))
    if ((all < 100000 || same * 10000 < all * $3)); then
        echo "${said}" | head -n 12
        exit 1
    fi
}
"$lines" </dev/null
(($? == 77)) && { echo "no LLVM on this machine, or a build without it: nothing to compare"; exit 77; }
compare aarch64-linux-gnu A64 10000
compare riscv64-linux-gnu RV64 10000
compare arm-linux-gnueabihf A32 9990 # T32 and A32; what differs is data between functions
((tried > 0)) || exit 77
