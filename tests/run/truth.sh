#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Real programs under QEMU: in every protocol what is decoded is what ran. A share of `make truth`.
set -eu
bin=$1 source=$2
command -v qemu-aarch64 >/dev/null || { echo "there is no qemu-user here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $bin in
  */release/*) scale=1 seeds=1 ;;
  *) scale=1 seeds=0 ;; # with sanitizers all is some ten times slower
esac
"$source/tests/truth/truth.sh" "$bin" "$work" $scale $seeds
