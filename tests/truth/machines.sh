#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machines.sh BIN WORK LIMIT SEEDS [MACHINES...]: our own programs on whole machines under QEMU, for so many
# instructions each: interrupts at random moments, nested and tail-chained, calls, faults, threads, secure states,
# hypervisor, supervisor and machine mode, contexts and address spaces.
# Each recording is encoded in every protocol with many choices, decoded, and compared with what ran: instructions,
# and exceptions by number, place and return address, and returns from them. The last line adds up; a difference
# ends it with status 1. Without clang, lld or QEMU's machines: 77.
set -u
bin=$1 work=$2 limit=$3 seeds=$4
shift 4
here=$(dirname "$0")
machines=("$@")
[[ ${#machines[@]} -gt 0 ]] || machines=(an385 an386 an500 an505 an521 an547 a64 a32 t32 rv64 rv32 sifive)
command -v clang >/dev/null && command -v ld.lld >/dev/null || { echo "there is no clang or no ld.lld here"; exit 77; }
mkdir -p "$work"
bad=0 count=0 instructions=0 exceptions=0

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
    an547) m an547 armv8.1m.main-none-eabihf cortex-m55 0 0x20000000 ;;
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

# check MACHINE PROTOCOL OPTIONS...: one encoding, and its comparison with the path
check() {
  local machine=$1 protocol=$2 said verify=()
  shift 2
  [[ " $* " == *" --snapshot-mode "* ]] && verify=(--tail)
  : >"$work/out.path" # what was there before is equal to nothing
  if said=$("$bin/pugmark" record --quiet --from "$work/$machine.path" --protocol "$protocol" --out "$work/out" \
    --path "$work/out.path" "$@" 2>&1) &&
    said=$("$bin/pugmark" pc "$work/out" --verify "$work/out.path" "${verify[@]}" 2>&1) &&
    [[ $said =~ (^|$'\n')equal:\ ([0-9]+)\ instructions[^$'\n']*,\ ([0-9]+)\ exceptions && $said != *"NOT compared"* ]]; then
    count=$((count + 1)) instructions=$((instructions + BASH_REMATCH[2])) exceptions=$((exceptions + BASH_REMATCH[3]))
    return
  fi
  bad=$((bad + 1))
  echo "FAILED $machine --protocol $protocol $*"
  sed 's/^/    /' <<<"$said" | head -6
}

each_choice() {
  local machine=$1 protocol=$2 seed
  check "$@"
  check "$@" --loss 10
  check "$@" --snapshot-mode --buffer 65536
  [[ $protocol != etmv4 ]] || check "$@" --set return_stack=0 --set speculation=0
  for ((seed = 1; seed <= seeds; seed++)); do
    check "$@" --random "$seed" --sync $((seed * 300))
    check "$@" --random $((seed + 1000)) --loss 10
  done
}

for machine in "${machines[@]}"; do
  read -ra run <<<"$(emulator "$machine")"
  command -v "${run[0]}" >/dev/null || { echo "no ${run[0]}: $machine is left out"; continue; }
  build "$machine" || exit 1
  if ! "$bin/pugmark" record --quiet --limit "$limit" --path "$work/$machine.path" -- "${run[@]}" -nic none -display none \
    -serial none -kernel "$work/$machine.elf" >"$work/said" 2>&1; then
    echo "FAILED $machine: $(cat "$work/said")"
    bad=$((bad + 1))
    continue
  fi
  for protocol in $(protocols "$machine"); do each_choice "$machine" "$protocol"; done
  rm -rf "$work/$machine.path" "$work/out" "$work/out.path"
done
echo "$instructions instructions and $exceptions exceptions compared in $count recordings of machines, $bad failed"
((count > 0 || bad > 0)) || exit 77
[[ $bad -eq 0 ]]
