#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A whole machine under qemu-system with the plugin: exceptions, interrupts and returns from them are what
# decoders give back, with the handlers' code.
set -eu
bin=$1 source=$2
for tool in qemu-system-aarch64 qemu-system-riscv64 clang ld.lld; do
  command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }
done
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
flags=(-nostdlib -static -fuse-ld=lld -Wno-unused-command-line-argument)
clang --target=aarch64-none-elf "${flags[@]}" -Wl,-Ttext=0x40080000 -Wl,--section-start=.vectors=0x40090000 \
  -o a64 "$source/tests/truth/machine_a64.S"
clang --target=riscv64-none-elf -march=rv64g -mno-relax "${flags[@]}" -Wl,-Ttext=0x80000000 \
  -o rv64 "$source/tests/truth/machine_rv64.S"
a64=(qemu-system-aarch64 -M virt -cpu cortex-a57 -nic none -nographic -semihosting -kernel a64)
rv64=(qemu-system-riscv64 -M virt -bios none -nic none -nographic -kernel rv64)

timeout 60 "$bin/pugmark" record --quiet --path a64.path -- "${a64[@]}"
timeout 60 "$bin/pugmark" record --quiet --path rv64.path -- "${rv64[@]}"

check() { # PATH PROTOCOL MACHINE OPTIONS...
  "$bin/pugmark" record --quiet --from "$1" --protocol "$2" --out out --path ran "${@:3}"
  "$bin/pugmark" pc out --verify ran >said || { echo "$*:"; cat said; exit 1; }
}
for options in '' '--random 1 --sync 50' '--random 3 --loss 10'; do
  # shellcheck disable=SC2086
  for protocol in etmv4 ete; do check a64.path $protocol $options; done
  # shellcheck disable=SC2086
  for protocol in etrace ntrace; do check rv64.path $protocol $options; done
done

# Twenty-one calls of the supervisor are exceptions that say so, and the timer interrupts once.
check a64.path etmv4
[[ $("$bin/pugmark" list out | grep -c 'EXCEPTION(.*\[call\]') == 21 ]]
[[ $("$bin/pugmark" list out | grep -c 'EXCEPTION_RET(') == 21 ]]
check rv64.path etrace
[[ $("$bin/pugmark" list out | grep -c 'EXCEPTION(.*excep num (0x08)\|EXCEPTION(.*excep num (0x0b)') == 20 ]]
[[ $("$bin/pugmark" list out | grep -c 'EXCEPTION(.*\[machine timer\]') == 1 ]]

# Handlers' addresses are left out where they are known; where they differ the trap is sent without one.
handler=0x$(readelf --symbols --wide rv64 | awk '$8 == "handler" { print $2 }')
check rv64.path etrace --set implicit_exception=1 --set vector="$handler"
"$bin/pugmark" list --packets out >said
[[ $(grep -c 'TE_TRAP' said) == 21 && $(grep -c 'handler=' said) == 0 ]] || { cat said; exit 1; }
check rv64.path etrace --set implicit_exception=1 --set vector=0x1000
[[ $("$bin/pugmark" list out | grep -c 'EXCEPTION(.*excep num (0x08)\|EXCEPTION(.*excep num (0x0b)') == 20 ]]

# QEMU from 9.0 on gives exception levels, modes and context ids: PUG_QEMU_SYSTEM is a folder of one.
if [[ -x ${PUG_QEMU_SYSTEM:-}/qemu-system-aarch64 ]]; then
  a64[0]=$PUG_QEMU_SYSTEM/${a64[0]} rv64[0]=$PUG_QEMU_SYSTEM/${rv64[0]}
  timeout 60 "$bin/pugmark" record --quiet --path a64.path -- "${a64[@]}" -L "$PUG_QEMU_SYSTEM/../share/qemu"
  timeout 60 "$bin/pugmark" record --quiet --path rv64.path -- "${rv64[@]}" -L "$PUG_QEMU_SYSTEM/../share/qemu"
  for protocol in etmv4 ete; do
    check a64.path $protocol
    "$bin/pugmark" list out >said
    grep -q 'PE_CONTEXT(.*EL1N.*CTXTID=0x0' said && grep -q 'PE_CONTEXT(.*EL0N.*CTXTID=0x7' said &&
      [[ $(grep -o 'EL[01]N' said | uniq | tr '\n' ' ') == 'EL1N EL0N EL1N ' ]] || { cat said; exit 1; }
  done
  for protocol in etrace ntrace; do
    check rv64.path $protocol
    [[ $("$bin/pugmark" list out | grep -o 'machine; 64\|user; 64' | uniq | tr '\n' ' ') == 'machine; 64 user; 64 ' ]]
  done
  check rv64.path etrace
  [[ $("$bin/pugmark" list out | grep -c 'EXCEPTION(.*excep num (0x0b)') == 20 ]]
fi

# From the machine straight to a snapshot, one function alone.
timeout 60 "$bin/pugmark" record --quiet --protocol etmv4 --out straight --path ran --elf a64 --filter f -- "${a64[@]}"
"$bin/pugmark" pc straight --verify ran | grep -q equal
