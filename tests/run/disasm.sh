#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Disassembly agrees with binutils' on the code of a C library, for each instruction set, after spaces and aliases are made alike:
# on the first 110,000 instructions, with DISASM=all on all of it.
set -u
lines=$1/../tests/disasm_lines
here=$2/tests/disasm
tried=0 most=110000
[[ ${DISASM-} != all ]] || most=
compare() { # TRIPLE ISA LEAST, in 10,000ths [FILE INSTRUCTIONS]
    local objdump=$1-objdump file=${4:-/usr/$1/lib/libc.so.6} least=${5:-100000} said same all
    if ! command -v "$objdump" >/dev/null || [[ ! -e $file ]]; then
        echo "skipped $2: needs $objdump and $file"
        return
    fi
    said=$(perl "$here/compare.pl" "$objdump" "$lines" "$2" "$file" $most)
    read -r same _ all <<<"${said%%$'\n'*}"
    echo "$2: $same of $all instructions are written alike"
    tried=$((tried + 1))
    if ((all < least || same * 10000 < all * $3)); then
        echo "${said}" | head -n 12
        exit 1
    fi
}
"$lines" </dev/null
(($? == 77)) && { echo "no LLVM on this machine, or a build without it: nothing to compare"; exit 77; }
compare aarch64-linux-gnu A64 10000
compare riscv64-linux-gnu RV64 10000
compare arm-linux-gnueabihf A32 9990 # T32 and A32; what differs is data between functions
# Of RV32 Debian has no library: programs of the recorder's tests, which also have A32 for the most part.
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
if "$2/tests/truth/build.sh" "$work" mixture.{rv32,rv64,a32}; then
    compare riscv64-linux-gnu RV32 10000 "$work/mixture.rv32" 700
    compare riscv64-linux-gnu RV64 10000 "$work/mixture.rv64" 700
    compare arm-linux-gnueabihf A32 9990 "$work/mixture.a32" 600
else
    echo "skipped RV32: the programs need clang and lld"
fi
((tried > 0)) || exit 77
