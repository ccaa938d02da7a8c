#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make.sh BIN: makes the captures in this folder again, from the programs in tests/truth. Each has the
# path that ran beside it. Threads run as they like, so no two makings are the same, byte by byte.
set -eu
bin=$1 here=$(dirname "$0")
work=/tmp/pugmark-captures # a path has the program's name in it
mkdir "$work"
trap 'rm -rf "$work"' EXIT
"$here/../truth/build.sh" "$work"

# make NAME PROGRAM PROTOCOL LIMIT OPTIONS...
make() {
  local name=$1 program=$2 protocol=$3 limit=$4
  shift 4
  rm -rf "${here:?}/$name"
  [[ -f $work/$program.path ]] ||
    "$bin/pugmark" record --quiet --path "$work/$program.path" -- "$work/$program" 1 >/dev/null
  "$bin/pugmark" record --quiet --from "$work/$program.path" --protocol "$protocol" --limit "$limit" \
    --force --out "$here/$name" --path "$here/$name/path" "$@"
  "$bin/pugmark" pc "$here/$name" --verify "$here/$name/path" | sed "s/^/$name: /"
}

make etmv4-a64 mixture.a64 etmv4 300000 --sync 5000
make etmv4-a64-cycles plain.a64 etmv4 100000 --sync 2000 --set cycles=1 --set commit_packets=0 --set speculation=24 \
  --set guess_once_in=7 --set vmid=1 --set events=1 --cycle-counts 40
make etmv4-arm mixture.a32 etmv4 200000 --sync 4000 --calls on
make etmv4-a64-broadcast plain.a64 etmv4 60000 --sync 3000 --set branch_broadcast=1 --set q_once_in=9 --calls silent
make etmv4-arm-times plain.t32 etmv4 15000 --sync 2000 --times 9 --set return_stack=0
make ete-a64 plain.a64 ete 150000 --sync 3000 --set source_once_in=8 --set q_once_in=11
make ete-a64-cycles plain.a64 ete 15000 --sync 2000 --times 40 --set version=2 --set cycles=1 --set markers=1 --set events=1 \
  --cycle-counts 12 --others 90
make ete-a64-versions writes.a64 ete 400000 --sync 6000
make ete-a64-loss plain.a64 ete 200000 --loss 25
make etmv3-arm plain.a32 etmv3 60000 --sync 2000 --set others=1 --others 800
make etmv3-arm-threads mixture.t32 etmv3 90000 --sync 3000 --set branch_broadcast=1
make etmv3-arm-cycles plain.t32 etmv3 25000 --sync 1000 --set cycles=1 --set alternative=0
make ptm-arm mixture.a32 ptm 250000 --sync 4000
make ptm-arm-cycles plain.t32 ptm 60000 --sync 2000 --set cycles=1 --set barriers=1 --set return_stack=0
make etrace-rv64 mixture.rv64 etrace 300000
make etrace-rv64-options plain.rv64 etrace 150000 --set branch_prediction=6 --set jump_cache=5 --set irets=0 \
  --set full_address=1 --set notify_once_in=500 --set timestamp_bytes=6 --calls on
make etrace-rv32 plain.rv32 etrace 150000 --set return_stack=0 --set call_counter=4 --loss 10
make ntrace-rv64 mixture.rv64 ntrace 300000 --sync 5000
make ntrace-rv64-btm plain.rv64i ntrace 80000 --sync 3000 --set btm=1 --set all_jumps=1 --calls on
make ntrace-rv32 plain.rv32 ntrace 150000 --sync 3000 --set hist_bits=16 --set icnt_max=300 --set implicit_return=0
