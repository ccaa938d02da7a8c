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
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$source/tests/run/profile_rebuild.c" .
build() {
  clang --target=aarch64-linux-gnu -O2 -g -fdebug-info-for-profiling -ffreestanding -nostdlib -static -fuse-ld=lld \
    profile_rebuild.c "$@"
}
ran() { "$pugmark" profile --quiet --elf "$1" --json --rows 1 "$2" | sed -n '1s/.*"instructions": *\([0-9]*\).*/\1/p'; }

build -o before
"$pugmark" record --quiet --protocol etmv4 --out trace -- ./before >said
"$pugmark" profile --quiet --elf before --dso before --format llvm -o program.prof trace
build -fprofile-sample-use=program.prof -o after
"$pugmark" record --quiet --protocol etmv4 --out trace2 -- ./after >said2
cmp said said2
before=$(ran before trace) after=$(ran after trace2)
echo "$before instructions before, $after after"
[[ $((after * 10)) -lt $((before * 8)) ]] || { echo "not a fifth less"; exit 1; }
"$pugmark" profile --quiet --elf before -o before.pug trace
"$pugmark" profile --quiet --elf after -o after.pug trace2
"$pugmark" merge -o both.pug before.pug after.pug
[[ $("$pugmark" profile --json --rows 1 both.pug | sed -n '1s/.*"instructions": *\([0-9]*\).*/\1/p') == $((before + after)) ]]
