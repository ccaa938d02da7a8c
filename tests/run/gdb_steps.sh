#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# step, next, until, finish and advance over `pugmark gdb` lead where the same GDB gets to with them in the running
# program, under QEMU.
set -eu
bin=$1 source=$2
command -v gdb-multiarch >/dev/null || { echo "needs gdb-multiarch, which is not installed"; exit 77; }
command -v qemu-aarch64 >/dev/null || { echo "needs QEMU's user emulators, which are not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export HOME=$tmp
moves=30
[[ ! ${PUG_TEST_ALL:-} ]] || moves=1000
export GDB_MOVES=${GDB_MOVES:-$moves}
TRUTH_FLAGS=-g bash "$source/tests/truth/build.sh" "$tmp" plain.a64 plain.a32 plain.t32 plain.rv64 plain.rv32 ||
  { echo "needs clang and lld, which are not installed"; exit 77; }
for set in ${GDB_SETS:-a64 a32 t32 rv64 rv32}; do
  case $set in
    a64) protocol=etmv4 qemu=qemu-aarch64 ;;
    [at]32) protocol=ptm qemu=qemu-arm ;;
    rv64) protocol=etrace qemu=qemu-riscv64 ;;
    rv32) protocol=etrace qemu=qemu-riscv32 ;;
  esac
  "$bin/pugmark" record --quiet --protocol $protocol --out "$tmp/$set" -- "$tmp/plain.$set" 1 >"$tmp/said"
  timeout 700 $qemu -g "$tmp/socket" "$tmp/plain.$set" 1 >/dev/null 2>&1 &
  for ((n = 0; n < 100; n++)); do
    [[ ! -S $tmp/socket ]] || break
    sleep 0.05
  done
  timeout 600 gdb-multiarch -q -nx -batch "$tmp/plain.$set" -ex "target remote $tmp/socket" \
    -x "$source/tests/run/gdb_steps.py" -ex kill >"$tmp/live.said" 2>&1 || true
  wait || true
  if ! GDB_BACK=$GDB_MOVES timeout 1200 "$bin/pugmark" gdb "$tmp/$set" -- -nx -batch -x "$source/tests/run/gdb_steps.py" \
    >"$tmp/trace.said" 2>&1 || ! grep -q '^back: good' "$tmp/trace.said"; then
    echo "$set:"
    tail -5 "$tmp/trace.said"
    exit 1
  fi
  grep '^place' "$tmp/live.said" >"$tmp/live" || true
  grep '^place' "$tmp/trace.said" >"$tmp/trace" || true
  count=$(wc -l <"$tmp/live")
  [[ $count == "$GDB_MOVES" ]] || { [[ $count -gt 20 ]] && grep -q '^over' "$tmp/live.said"; } ||
    { echo "$set: GDB and QEMU ended early:"; tail -5 "$tmp/live.said"; exit 1; }
  head -n "$count" "$tmp/trace" >"$tmp/trace.part" && mv "$tmp/trace.part" "$tmp/trace"
  if ! diff "$tmp/live" "$tmp/trace" >"$tmp/differ"; then
    echo "$set: it leads elsewhere in the running program (<) than in the trace (>):"
    head -12 "$tmp/differ"
    exit 1
  fi
  [[ ! ${PUG_TEST_ALL:-} ]] || echo "$set good: $count commands, and $GDB_MOVES backwards"
done
