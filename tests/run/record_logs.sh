#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# QEMU's own log (-d exec,nochain) of a program that has every form of branch gives the path that the plugin sees, with A32
# separate from T32.
set -eu
bin=$1 source=$2
command -v qemu-aarch64 >/dev/null && command -v qemu-arm >/dev/null && command -v qemu-riscv64 >/dev/null ||
  { echo "there is no qemu-user here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$source/tests/truth/build.sh" "$work/programs" branches.{a64,t32,rv64} plain.a64 || exit $?
cd "$work"
for set in a64 t32 rv64; do
  case $set in
    a64) emulator=qemu-aarch64 protocol=etmv4 ;;
    t32) emulator=qemu-arm protocol=etmv3 ;;
    rv64) emulator=qemu-riscv64 protocol=etrace ;;
  esac
  program=programs/branches.$set
  $emulator -d exec,nochain -D log "$program" 2 >/dev/null
  "$bin/pugmark" record --quiet --protocol $protocol --from log --elf "$program" --out logged
  "$bin/pugmark" record --quiet --protocol $protocol --out seen -- "$program" 2 >/dev/null
  "$bin/pugmark" pc logged >logged.pcs
  "$bin/pugmark" pc seen >seen.pcs
  [[ $(wc -l <seen.pcs) -gt 900 ]]
  cmp logged.pcs seen.pcs || { echo "$set: the log has another path"; exit 1; }
  # And a plain list of addresses, of which T32's have bit 0 set.
  [[ $set == [at]32 ]] && continue
  "$bin/pugmark" record --quiet --protocol $protocol --from seen.pcs --elf "$program" --out listed
  "$bin/pugmark" pc listed | cmp - seen.pcs
  rm -rf logged seen listed
done

# Taking only the first lines causes no message.
"$bin/pugmark" record --quiet --protocol etmv4 --out long -- programs/plain.a64 3 >/dev/null
"$bin/pugmark" pc long 2>said | head -2 >first
[[ $(wc -l <first) == 2 && ! -s said ]] || { cat said; exit 1; }
