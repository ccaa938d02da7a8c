#!/bin/sh
# SPDX-License-Identifier: MIT
# test.sh [--core] HOST...: build for other hosts, and test under QEMU, or Wine. --core: a small share, which is left out
# with a word where the compilers cannot be had.
set -eu
cd "$(dirname "$0")/../.."
preset= quick=
[ "$1" != --core ] || { preset=-core quick='-DCMAKE_C_FLAGS_RELEASE=-O0 -DNDEBUG -Wno-maybe-uninitialized'; shift; }

cannot() {
  echo "other hosts: $1 cannot be installed"
  [ -n "$preset" ] || exit 1
  echo "other hosts: SKIPPED"
  exit 0
}
cmake/install-packages.sh packages.txt hosts || cannot "the compilers"
for host; do
  [ "$host" = windows ] || cmake/hosts/root.sh "$host" "build/roots/$host" || cannot "the libraries of $host"
  cmake --preset "$host" ${quick:+"$quick"} >"build/configure.log" 2>&1 || { cat build/configure.log; exit 1; }
  cmake --build --preset "$host$preset" -- --quiet
  [ "$host" = windows ] || ctest --preset "$host$preset" -j"$(nproc)"
  # What Wine prints at its first start does not come from the program, and its set-up continues after that.
  if [ "$host" = windows ]; then
    "build/$host/bin/pugmark" --version >/dev/null 2>&1
    WINEPREFIX=$PWD/build/$host/wine PATH=$PATH:/usr/lib/wine wineserver -w
  fi
  if [ -n "$preset" ]; then
    tests/hosts/compare.sh build/release/bin "build/$host/bin" . examples/demo tests/captures/ptm-arm
  else
    tests/hosts/compare.sh build/release/bin "build/$host/bin" .
  fi
done
