#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From a program to a faster one: traced, profiled, compiled again with the profile, it does the same with
# fewer instructions.
#   profile_rebuild.sh BIN SOURCE
set -eu
pugmark=$1/pugmark source=$2
for tool in clang ld.lld qemu-aarch64; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
cp "$source/tests/run/profile_rebuild.c" .
build() {
  clang --target=aarch64-linux-gnu -mno-outline-atomics -O2 -g -fdebug-info-for-profiling -ffreestanding -nostdlib -fuse-ld=lld \
    profile_rebuild.c "$@"
}
ran() { "$pugmark" profile --quiet --elf "$1" --json --rows 1 "$2" | sed -n '1s/.*"instructions": *\([0-9]*\).*/\1/p'; }

build -static -o before
"$pugmark" record --quiet --protocol etmv4 --out trace -- ./before >said
"$pugmark" profile --quiet --elf before --dso before --format llvm -o program.prof trace
build -static -fprofile-sample-use=program.prof -o after
"$pugmark" record --quiet --protocol etmv4 --out trace2 -- ./after >said2
cmp said said2
before=$(ran before trace) after=$(ran after trace2)
echo "$before instructions before, $after after"
[[ $((after * 10)) -lt $((before * 8)) ]] || { echo "not a fifth less"; exit 1; }
"$pugmark" profile --quiet --elf before -o before.pug trace
"$pugmark" profile --quiet --elf after -o after.pug trace2
"$pugmark" merge -o both.pug before.pug after.pug
[[ $("$pugmark" profile --json --rows 1 both.pug | sed -n '1s/.*"instructions": *\([0-9]*\).*/\1/p') == $((before + after)) ]]

# llvm-profgen finds the same functions in the program's counts and in its stacks, wherever it was linked to and loaded.
command -v llvm-profgen-19 >/dev/null || { echo "passed over: no llvm-profgen-19"; exit 0; }
functions() { sed -n 's/^\([^ :]*\):.*/\1/p' "$1" | sort; }
profgen() { # INPUT-OPTION
  llvm-profgen-19 --binary=before "$1" --output=theirs.prof --format=text >said 2>&1 || { cat said; exit 1; }
  diff <(functions program.prof) <(functions theirs.prof)
}
for place in -static '-static-pie -fPIE -Wl,--no-dynamic-linker'; do
  # shellcheck disable=SC2086
  build $place -o before
  "$pugmark" record --quiet --protocol etmv4 --out trace -- ./before >/dev/null
  for format in llvm:program.prof profgen:counts brstack:stacks; do
    "$pugmark" profile --quiet --elf before --dso before --format "${format%:*}" -o "${format#*:}" trace
  done
  profgen --unsymbolized-profile=counts
  profgen --perfscript=stacks
done
