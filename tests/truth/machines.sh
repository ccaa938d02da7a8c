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
. "$here/machine_programs.sh"
machines=("$@")
[[ ${#machines[@]} -gt 0 ]] || machines=(an385 an386 an500 an505 an521 an547 a64 a32 t32 rv64 rv32 sifive)
command -v clang >/dev/null && command -v ld.lld >/dev/null || { echo "there is no clang or no ld.lld here"; exit 77; }
mkdir -p "$work"
bad=0 count=0 instructions=0 exceptions=0

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
  if ! record_machine "$machine" "$limit" >"$work/said" 2>&1; then
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
