#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Loops of a program whose rounds are known: how often each is visited, and the mean and spread of its rounds.
#   profile_loops.sh BIN SOURCE
set -eu
pugmark=$1/pugmark source=$2
for tool in clang ld.lld qemu-aarch64 qemu-riscv64; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
cp "$source/tests/run/profile_loops.c" "$source/tests/run/leave.h" .
fail() { echo "profile_loops: $*"; exit 1; }

# Of a function's loops, in the order of their rounds: entered, rounds, deviation (two digits), least, most.
loops() { # function
  "$pugmark" profile --quiet --elf program --json --rows 100 "${inputs[@]}" | sed -n "/\"loop\": *\"$1+/p" |
    sed -E 's/.*"entered": *([0-9]+).*"rounds": *([0-9]+).*"deviation": *([0-9.]+).*"least": *([0-9]+).*"most": *([0-9]+).*/\2 \1 \3 \4 \5/' |
    sort -n | while read -r rounds entered deviation least most; do
      printf '%d %d %.2f %d %d\n' "$entered" "$rounds" "$deviation" "$least" "$most"
    done
}
expect() { # function, lines
  [[ $(loops "$1") == "$2" ]] || fail "$target, $1: $(loops "$1") in place of $2"
}
for target in aarch64:etmv4 aarch64:ete riscv64:etrace riscv64:ntrace; do
  clang --target=${target%:*}-linux-gnu -O1 -g -fno-vectorize -fno-unroll-loops -ffreestanding -nostdlib -static \
    -fuse-ld=lld profile_loops.c -o program
  rm -rf trace
  "$pugmark" record --quiet --protocol ${target#*:} --out trace -- ./program
  inputs=(trace)
  expect triangle $'2 10 4.00 1 9\n10 46 2.73 1 9'
  expect recursion '40 120 0.00 3 3' # 1 + 3 + 9 + 27 frames
  [[ $target == riscv64* ]] || expect entered_in_the_middle $'2 7 1.50 2 5\n7 18 1.40 1 5'
  # Saved, and merged, they are the same twice.
  "$pugmark" profile --quiet --elf program -o one.pug trace
  "$pugmark" merge --quiet -o two.pug one.pug one.pug
  inputs=(two.pug)
  expect triangle $'4 20 4.00 1 9\n20 92 2.73 1 9'
done

# Any number of threads reads what is to be merged; an input that cannot be read leaves nothing in the result.
files=(one.pug two.pug one.pug two.pug one.pug two.pug one.pug)
"$pugmark" merge --jobs 1 -o all.pug "${files[@]}"
for jobs in 2 3 8 0; do
  "$pugmark" merge --jobs $jobs -o again.pug "${files[@]}"
  cmp all.pug again.pug || fail "merge --jobs $jobs"
  code=0
  "$pugmark" merge --jobs $jobs -o none.pug one.pug two.pug missing.pug one.pug 2>said || code=$?
  [[ $code == 3 && ! -e none.pug ]] && grep -q missing.pug said || fail "merge --jobs $jobs of what is not there: $code"
done
