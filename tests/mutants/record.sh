#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record.sh BIN SOURCE WORK: the recordings that the mutants are to be found by, made without any.
set -eu
bin=$1 source=$2 work=$3
mkdir -p "$work/recordings"
cp -r "$source"/tests/captures/*/ "$work/recordings/"
command -v qemu-aarch64 >/dev/null || { echo "no qemu-user: the repository's captures alone"; exit 0; }
"$source/tests/truth/build.sh" "$work/programs" || exit 0
record() { # PROGRAM.SET PROTOCOL OPTIONS...
  local name=$1-$2-$((n++)) program=$1 protocol=$2
  shift 2
  mkdir -p "$work/recordings/$name"
  "$bin/pugmark" record --quiet --from "$work/$program.path" --protocol "$protocol" --out "$work/recordings/$name" \
    --path "$work/recordings/$name/path" --limit 400000 "$@"
}
n=0
for set in a64 a32 t32 rv64 rv64i rv32 rv32i; do
  for program in branches plain; do
    "$bin/pugmark" record --quiet --path "$work/$program.$set.path" -- "$work/programs/$program.$set" 1 >/dev/null
  done
  case $set in
    a64) protocols=(etmv4 ete) ;;
    a32 | t32) protocols=(etmv4 etmv3 ptm) ;;
    *) protocols=(etrace ntrace) ;;
  esac
  for protocol in "${protocols[@]}"; do
    record branches.$set "$protocol"
    record branches.$set "$protocol" --random 3
    record plain.$set "$protocol"
    for seed in 1 2; do record plain.$set "$protocol" --random $seed --sync 500 --calls on; done
  done
done

# Whole machines: exceptions, returns, contexts and loops.
here=$source/tests/truth
. "$here/machine_programs.sh"
for machine in an385 an505 an547 a64 a32 t32 rv64; do
  read -ra run <<<"$(emulator $machine)"
  command -v "${run[0]}" >/dev/null || { echo "no ${run[0]}: $machine is left out"; continue; }
  build $machine
  record_machine $machine 200000 >/dev/null 2>&1
  for protocol in $(protocols $machine); do
    for options in '' '--random 3 --sync 500'; do
      folder=$work/recordings/$machine-$protocol-$((n++))
      mkdir -p "$folder"
      # shellcheck disable=SC2086
      "$bin/pugmark" record --quiet --from "$work/$machine.path" --protocol "$protocol" --out "$folder" --path "$folder/path" $options
    done
  done
done
