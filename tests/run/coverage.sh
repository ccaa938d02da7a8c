#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Outcomes of conditional branches and returns, by A32's conditions and in T32's IT blocks, equal those listed in coverage.S.
#   coverage.sh BIN SOURCE
set -eu
pugmark=$1/pugmark unpack=$2/tests/report/unpack.sh source=$2/tests/run/coverage.S
for tool in clang ld.lld qemu-arm; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
awk '/taken .*, not / {n = split($0, f, /.*taken |, not /); print NR, f[n - 1], f[n]}' "$source" >told
[[ -s told ]]
while read -r line taken not; do
  echo "BRDA:$line,0,0,$taken"
  echo "BRDA:$line,0,1,$not"
done <told >want

wrong() { echo "$set, $protocol: $*"; exit 1; }
for set in arm thumb; do
  clang --target=armv7a-linux-gnueabi -DSET=.$set -g -nostdlib -static -fuse-ld=lld -o $set "$source"
  "$pugmark" record --quiet --path path -- ./$set
  for protocol in etmv4 etmv3 ptm; do
    "$pugmark" record --quiet --from path --protocol $protocol --out trace
    "$pugmark" coverage --quiet --elf $set --format lcov trace | grep BRDA >said
    diff want said || wrong "not these outcomes"
    "$pugmark" coverage --quiet --elf $set --format json trace >said
    "$pugmark" report --quiet --elf $set --output page.html trace
    bash "$unpack" page.html code >page
    while read -r line taken not; do
      [[ $taken != - ]] || taken=0 not=0
      grep -q "{\"line\": $line, \"block\": 0, [^}]*\"taken\": $taken, \"not_taken\": $not}" said || wrong "not in JSON: line $line"
      [[ $taken$not == 00 ]] || grep -q ", $line, $taken, $not\]" page || wrong "not in a report: line $line"
    done <told
  done
done
