#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh FOLDER: the programs for each instruction set, with clang and lld alone. A program is
# FOLDER/NAME.SET; SET is a64, a32 (A32 and T32), t32, rv64, rv64i (no compressed), rv32, rv32i.
set -eu
here=$(dirname "$0") out=$1
command -v clang >/dev/null && command -v ld.lld >/dev/null || exit 77
mkdir -p "$out"
flags=(-ffreestanding -nostdlib -static -fuse-ld=lld -fno-stack-protector -Wall -Wextra -Werror
  -fno-unwind-tables -fno-asynchronous-unwind-tables -Wno-unused-command-line-argument)
target() {
  case $1 in
    a64) echo --target=aarch64-linux-gnu ;;
    a32) echo --target=armv7a-linux-gnueabihf -marm ;;
    t32) echo --target=armv7a-linux-gnueabihf -mthumb ;;
    rv64) echo --target=riscv64-linux-gnu -march=rv64gc ;;
    rv64i) echo --target=riscv64-linux-gnu -march=rv64ima -mabi=lp64 ;;
    rv32) echo --target=riscv32-linux-gnu -march=rv32gc ;;
    rv32i) echo --target=riscv32-linux-gnu -march=rv32ima -mabi=ilp32 ;;
  esac
}
for set in a64 a32 t32 rv64 rv64i rv32 rv32i; do
  read -ra to <<<"$(target $set)"
  make() { clang "${to[@]}" "${flags[@]}" "${@:2}" -o "$out/$1.$set" "$here/system.c" "$here/mixture.c"; }
  make mixture -O2
  make plain -O1 -DONE_THREAD
  make writes -O1 -DONE_THREAD -DWRITES_CODE
done
