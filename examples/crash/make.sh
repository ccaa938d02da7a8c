#!/bin/sh
# SPDX-License-Identifier: MIT
# make.sh PUGMARK: makes this capture again from crash.c. Needs clang, lld and qemu-user. Ticks of the timestamps are nanoseconds
# that it ran, so no two makings are the same.
set -eu
pugmark=$(readlink -f "${1:?usage: make.sh PUGMARK}")
cd "$(dirname "$0")"
# build FILE OPTIONS...
build() {
  file=$1
  shift
  clang --target=aarch64-linux-gnu -mno-outline-atomics -O1 -g -fno-inline -ffreestanding -nostdlib -static \
    -fuse-ld=lld -fno-unwind-tables -fno-asynchronous-unwind-tables -ffile-prefix-map="$PWD"=. \
    -Wl,--build-id=sha1 "$@" -o "$file" crash.c
}
build crash
build crash.mended -DMENDED -g0
rm -f ./*.ini trace.bin recording.manifest
work=/tmp/pugmark-crash # a path has the program's name in it
mkdir "$work"
trap 'rm -rf "$work"' EXIT
cp crash "$work"
# The fault stops the trace, some instructions into its handler.
"$pugmark" record --quiet --force --protocol etmv4 --times 30 --sync 300 --calls silent --limit 750 --no-context \
  --out . --path path -- "$work/crash" || true
rm memory_*.bin
# The program itself is what has the memory: so its names and lines are known.
sed -i '/^\[dump0\]/,$d' cpu_0.ini
printf '[elf0]\nfile=crash\n' >>cpu_0.ini
"$pugmark" pc . --verify path
