# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
# The programs of whole machines, for scripts that set bin, work and here (the folder of the programs' sources).

# m MACHINE TARGET CPU CODE DATA OPTIONS...: a program of the M profile
m() {
  clang --target="$2" -mcpu="$3" -ffreestanding -O2 -Wall -Werror "${@:6}" -c -o "$work/$1.o" "$here/machine_m.c" &&
    ld.lld -static -n --defsym=CODE="$4" --defsym=DATA="$5" -T "$here/machine_m.ld" -e start -o "$work/$1.elf" "$work/$1.o"
}

# kernel MACHINE TARGET CODE STACK OPTIONS...: a program of the A profile, or of RISC-V
kernel() {
  clang --target="$2" -ffreestanding -O2 -Wall -Werror -Wno-unused-function "${@:5}" -c -o "$work/$1.o" "$here/machine_kernel.c" &&
    ld.lld -static -n --defsym=CODE="$3" --defsym=SIZEOF_STACK="$4" -T "$here/machine_kernel.ld" -e _start -o "$work/$1.elf" "$work/$1.o"
}

build() {
  # Tasks of RV64 run at other addresses than they were linked to: no tables of them.
  local rv64=(-march=rv64imac -mabi=lp64 -mcmodel=medany -mno-relax -fno-jump-tables)
  case $1 in
    a64) kernel a64 aarch64-none-elf 0x40080000 32768 -mgeneral-regs-only ;;
    a32) kernel a32 armv7a-none-eabi 0x40010000 16384 -marm -mfloat-abi=soft ;;
    t32) kernel t32 armv7a-none-eabi 0x40010000 16384 -mthumb -mfloat-abi=soft ;;
    rv64) kernel rv64 riscv64-none-elf 0x80000000 32768 "${rv64[@]}" ;;
    rv32) kernel rv32 riscv32-none-elf 0x80000000 16384 -march=rv32imac -mabi=ilp32 -mcmodel=medany -mno-relax ;;
    sifive) kernel sifive riscv64-none-elf 0x80000000 32768 "${rv64[@]}" -DHART=1 ;;
    an385) m an385 armv7m-none-eabi cortex-m3 0 0x20000000 ;;
    an386) m an386 armv7em-none-eabihf cortex-m4 0 0x20000000 ;;
    an500) m an500 armv7em-none-eabihf cortex-m7 0 0x20000000 ;;
    an505 | an521) m "$1" armv8m.main-none-eabi cortex-m33 0x10000000 0x38000000 -DSECURE -mcmse -mfloat-abi=soft ;;
    an547) m an547 armv8.1m.main-none-eabihf cortex-m55 0 0x20000000 -DLOOPS ;;
  esac
}

emulator() {
  case $1 in
    an547) echo qemu-system-arm -M mps3-an547 ;;
    an*) echo qemu-system-arm -M "mps2-$1" ;;
    a64) echo qemu-system-aarch64 -M virt,virtualization=on -cpu cortex-a57 ;;
    a32 | t32) echo qemu-system-arm -M virt -cpu cortex-a15 ;;
    rv64) echo qemu-system-riscv64 -M virt -bios none ;;
    rv32) echo qemu-system-riscv32 -M virt -bios none ;;
    sifive) echo qemu-system-riscv64 -M sifive_u -bios none ;;
  esac
}

protocols() {
  case $1 in
    an385 | an386) echo etmv4 etmv3 ;;
    an*) echo etmv4 ;;
    a64) echo etmv4 ete ;;
    a32 | t32) echo etmv4 etmv3 ptm ;; # where there is an ETE user programs alone are AArch32
    *) echo etrace ntrace ;;
  esac
}

# record_machine MACHINE LIMIT: the path of its program, into MACHINE.path
record_machine() {
  local run
  read -ra run <<<"$(emulator "$1")"
  "$bin/pugmark" record --quiet --limit "$2" --path "$work/$1.path" -- \
    "${run[@]}" -nic none -display none -serial none -kernel "$work/$1.elf"
}
