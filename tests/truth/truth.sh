#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# truth.sh BIN WORK SCALE SEEDS [SETS...]: record the programs under QEMU, encode what ran in every
# protocol with many choices, decode it, and compare with what ran, instruction by instruction.
# The last line tells how many instructions were compared; a difference ends it with status 1.
set -u
bin=$1 work=$2 scale=$3 seeds=$4
shift 4
sets=("$@")
[[ ${#sets[@]} -gt 0 ]] || sets=(a64 a32 t32 rv64 rv64i rv32 rv32i)
here=$(dirname "$0")
compared=0 runs=0 bad=0

emulator() {
  case $1 in
    a64) echo qemu-aarch64 ;;
    a32 | t32) echo qemu-arm ;;
    rv64*) echo qemu-riscv64 ;;
    rv32*) echo qemu-riscv32 ;;
  esac
}

protocols() {
  case $1 in
    a64) echo etmv4 ete ;;
    a32 | t32) echo etmv4 ete etmv3 ptm ;;
    *) echo etrace ntrace ;;
  esac
}

# check NAME PATH PROTOCOL OPTIONS...: one encoding and its comparison
check() {
  local name=$1 path=$2 protocol=$3 said verify=()
  shift 3
  [[ " $* " == *" --snapshot-mode "* ]] && verify=(--tail)
  rm -rf "$work/out"
  if said=$("$bin/pugmark" record --quiet --from "$path" --protocol "$protocol" \
    --out "$work/out" --path "$work/out.path" "$@" 2>&1) &&
    said=$("$bin/pugmark" pc "$work/out" --verify "$work/out.path" "${verify[@]}" 2>&1); then
    runs=$((runs + 1))
    compared=$((compared + $(sed -n 's/^equal: \([0-9]*\) .*/\1/p' <<<"$said")))
    return
  fi
  bad=$((bad + 1))
  echo "FAILED $name --protocol $protocol $*"
  sed 's/^/    /' <<<"$said" | head -6
  [[ ${TRUTH_STOP:-} ]] && exit 1
}

"$here/build.sh" "$work/programs" || exit $?
for set in "${sets[@]}"; do
  if ! command -v "$(emulator "$set")" >/dev/null; then
    echo "no $(emulator "$set"): $set is left out"
    continue
  fi
  for name in plain mixture writes; do
    path=$work/$name.$set.path
    if ! "$bin/pugmark" record --quiet --path "$path" -- "$work/programs/$name.$set" "$scale" \
      >"$work/said" 2>&1; then
      echo "FAILED $name.$set: $(cat "$work/said")"
      bad=$((bad + 1))
      continue
    fi
    for protocol in $(protocols "$set"); do
      check "$name.$set" "$path" "$protocol"
      check "$name.$set" "$path" "$protocol" --calls on
      [[ $name == writes ]] || check "$name.$set" "$path" "$protocol" --loss 20
      [[ $name != plain ]] || check "$name.$set" "$path" "$protocol" --snapshot-mode --buffer 16384
      [[ $name != plain ]] || check "$name.$set" "$path" "$protocol" --filter fibonacci --filter op_gcd --filter 0-16
      [[ $name != plain ]] || check "$name.$set" "$path" "$protocol" --buffer 3000
      for ((seed = 1; seed <= seeds; seed++)); do
        check "$name.$set" "$path" "$protocol" --random "$seed" --calls silent --sync $((seed * 300))
        check "$name.$set" "$path" "$protocol" --random $((seed + 1000)) --calls on --loss 10
      done
    done
    rm -f "$path"
  done
done
rm -rf "$work/out" "$work/out.path"
echo "$compared instructions compared in $runs recordings, $bad failed"
[[ $runs -gt 0 ]] || exit 77
[[ $bad -eq 0 ]]
