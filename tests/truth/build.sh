#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh FOLDER [NAME... NAME.SET...]: the programs, or those, for each instruction set, with clang and lld alone.
# A program is FOLDER/NAME.SET; SET is a64, a32 (A32 and T32), t32, rv64, rv64i (no compressed), rv32, rv32i.
set -eu
here=$(dirname "$0") out=$1
shift
names=" ${*:-mixture plain writes branches accesses killed} "
command -v clang >/dev/null && command -v ld.lld >/dev/null || exit 77
mkdir -p "$out"
flags=(-ffreestanding -fno-stack-protector -Wall -Wextra -Werror -fno-unwind-tables -fno-asynchronous-unwind-tables
  -Wno-unused-command-line-argument)
read -ra more <<<"${TRUTH_FLAGS:-}" # "-g": for debuggers
flags+=("${more[@]}")
target() {
  case $1 in
    a64) echo --target=aarch64-linux-gnu -mno-outline-atomics ;; # which libgcc would have
    a32) echo --target=armv7a-linux-gnueabihf -marm ;;
    t32) echo --target=armv7a-linux-gnueabihf -mthumb ;;
    rv64) echo --target=riscv64-linux-gnu -march=rv64gc ;;
    rv64i) echo --target=riscv64-linux-gnu -march=rv64ima -mabi=lp64 ;;
    rv32) echo --target=riscv32-linux-gnu -march=rv32gc ;;
    rv32i) echo --target=riscv32-linux-gnu -march=rv32ima -mabi=ilp32 ;;
  esac
}
# Where branches.S has what is far: as far as a branch goes.
far() {
  case $1 in
    a64) echo 1=0x311000 2=0x422000 3=0x844000 4=0x1088000 5=0x2110000 6=0x7f00000 ;;
    a32 | t32) echo 1=0x311000 2=0x644000 3=0xc88000 4=0xd00000 5=0xe00000 6=0xf00000 ;;
    *) echo 1=0x231000 2=0x252000 3=0x284000 4=0x2c8000 5=0x1110000 6=0x2220000 ;;
  esac
}
# A process each: a driver that is given two sources to link starts one for each step, and the system twice.
compile() { # NAME OPTIONS AND SOURCE...
  clang "${to[@]}" "${flags[@]}" -c -o "$out/$1.o" "${@:2}"
}
for set in a64 a32 t32 rv64 rv64i rv32 rv32i; do
  read -ra to <<<"$(target $set)"
  system='' locals=()
  [[ $set != [at]32 ]] || locals=(--discard-locals)
  make() { # NAME OPTIONS AND SOURCE... [-- OF THE LINKER...]
    [[ $names == *" $1 "* || $names == *" $1.$set "* ]] || return 0
    local name=$1 options=() objects=("$out"/{system,program}.o)
    shift
    while (($# > 0)) && [[ $1 != -- ]]; do options+=("$1") && shift; done
    [[ $system == "${options[0]}" ]] || compile system "${options[0]}" "$here/system.c"
    system=${options[0]}
    compile program "${options[@]}"
    [[ $name != branches ]] || { compile far "$here/branches.S" && objects+=("$out/far.o"); }
    ld.lld -static --build-id --eh-frame-hdr "${locals[@]}" "${@:2}" -o "$out/$name.$set" "${objects[@]}"
  }
  make mixture -O2 "$here/mixture.c"
  make plain -O1 -DONE_THREAD "$here/mixture.c"
  make writes -O1 -DONE_THREAD -DWRITES_CODE "$here/mixture.c"
  make accesses -O1 "$here/accesses.c"
  make killed -O1 "$here/killed.c"
  make linux_init -O1 "$here/linux_init.c"
  # A load address of its own begins a segment: there is nothing in the file for what lies between.
  {
    echo 'SECTIONS {'
    for place in $(far $set); do echo ".far${place%=*} ${place#*=} : AT(${place#*=}) { *(.far${place%=*}) }"; done
    echo '} INSERT AFTER .text;'
  } >"$out/far.ld"
  make branches -O1 "$here/branches.c" -- -Ttext=0x210000 "$out/far.ld"
done
rm -f "$out"/{system,program,far}.o "$out/far.ld"
