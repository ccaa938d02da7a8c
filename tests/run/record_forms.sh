#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is free for an encoder is chance under a seed: over a few seeds every form of packet appears that the protocols'
# tables have of user programs and machines (below), and each recording is what ran.
set -eu
bin=$1 source=$2
[[ $bin == */release/* ]] || { echo "with sanitizers this is slow; truth.sh has seeds, too"; exit 77; }
command -v qemu-aarch64 >/dev/null || { echo "there is no qemu-user here"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
"$source/tests/truth/build.sh" "$work" {mixture,accesses}.{t32,rv64} {mixture,branches}.a64 plain.rv64
for set in a64 t32 rv64; do
  "$bin/pugmark" record --quiet --path "$work/$set" -- "$work/mixture.$set" 1 >/dev/null
done
"$bin/pugmark" record --quiet --path "$work/calls" -- "$work/branches.a64" >/dev/null
"$bin/pugmark" record --quiet --path "$work/loops" -- "$work/plain.rv64" 2 >/dev/null
for set in t32 rv64; do
  "$bin/pugmark" record --quiet --data --path "$work/$set.data" -- "$work/accesses.$set" 1 >/dev/null
done
# Two address spaces, and calls of the supervisor.
perl -e 'for my $i (0 .. 300) {
  printf "core   0: 1 0x0000000080000000 (0x18029073) c384_satp 0x8%03x000000080000\ncore   0: 1 0x0000000080000004 (0x00000463)\n", $i % 7;
  printf "core   0: exception trap_supervisor_ecall, epc 0x000000008000000c\ncore   0: 3 0x0000000090000000 (0x30200073)\n" if $i % 5 == 0;
  printf "core   0: 1 0x000000008000000c (0xff5ff06f)\n" }' >"$work/spike"
cat >"$work/forms" <<'FORMS'
etmv4 a64 t32: I_ADDR_CTXT_L_32IS0 I_ADDR_CTXT_L_32IS1 I_ADDR_CTXT_L_64IS0 I_ADDR_L_32IS0 I_ADDR_L_32IS1 I_ADDR_L_64IS0
etmv4 a64 t32: I_ADDR_MATCH I_ADDR_S_IS0 I_ADDR_S_IS1 I_ASYNC I_ATOM_F1 I_ATOM_F2 I_ATOM_F3 I_ATOM_F4 I_ATOM_F5 I_ATOM_F6
etmv4 a64 t32: I_CANCEL_F1 I_CANCEL_F1_MISPRED I_CANCEL_F2 I_CANCEL_F3 I_CCNT_F1 I_CCNT_F2 I_CCNT_F3 I_COMMIT I_CTXT
etmv4 a64 t32: I_DISCARD I_EVENT I_MISPREDICT I_OVERFLOW I_Q I_TIMESTAMP I_TRACE_INFO I_TRACE_ON
ete a64: I_ADDR_CTXT_L_64IS0 I_ADDR_MATCH I_ADDR_S_IS0 I_ATOM_F6 I_CANCEL_F3 I_CTXT I_Q I_ITE I_TS_MARKER
ete a64: I_SCR_ADDR_L_32IS0 I_SRC_ADDR_L_64IS0 I_SRC_ADDR_MATCH I_SRC_ADDR_S_IS0 I_TRANS_ST I_TRANS_COMMIT
etmv4 calls: I_EXCEPT
ete calls: I_EXCEPT
etmv3 t32: A_SYNC BRANCH_ADDRESS CONTEXT_ID IGNORE I_SYNC I_SYNC_CYCLE P_HDR TIMESTAMP TRIGGER VMID
etmv3 t32.data: NORM_DATA P_HDR
ptm t32: ASYNC ATOM BRANCH_ADDRESS CTXTID IGNORE ISYNC TIMESTAMP TRIGGER VMID
etrace rv64 loops spike: ENCAP_NULL_ALIGN ENCAP_NULL_IDLE TE_ADDR TE_BR TE_CNT TE_CTX TE_JTC TE_SUPP TE_SYNC TE_TRAP
etrace rv64.data: TE_DATA TE_DATA_REPLY
ntrace rv64 spike: DirectBranch DirectBranchSync Error IndirectBranch IndirectBranchHist IndirectBranchHistSync
ntrace rv64 spike: IndirectBranchSync Ownership ProgTraceCorrelation ProgTraceSync RepeatBranch ResourceFull
FORMS

# record PROTOCOL PATH: with a few seeds; the names of its packets
record() {
  local seed calls=(off silent on) data=()
  [[ $2 != *.data ]] || data=(--data)
  for seed in 1 2 3 4 5 6 7 8; do
    "$bin/pugmark" record --quiet --from "$work/$2" --protocol "$1" --random $seed --limit 25000 "${data[@]}" \
      --calls "${calls[seed % 3]}" --loss $((seed % 4 * 5)) --times 100 --others 100 --cycle-counts 100 --sync 1000 \
      --out "$work/out" --path "$work/ran"
    "$bin/pugmark" pc "$work/out" --quiet --verify "$work/ran" >"$work/said" 2>&1 ||
      { echo "$1 $2 --random $seed:" >&2; cat "$work/said" >&2; exit 1; }
    "$bin/pugmark" list --quiet --packets --format jsonl "$work/out" | awk -F '"packet": "' 'NF > 1 { sub(/[ ;"].*/, "", $2); print $2 }'
  done
}

missing=0
while read -r what; do
  read -r protocol paths <<<"${what%%:*}"
  for path in $paths; do
    [[ -e $work/names.$protocol.$path ]] || record "$protocol" "$path" >"$work/names.$protocol.$path"
  done
  for form in ${what#*:}; do
    count=0
    for path in $paths; do count=$((count + $(grep -cx "$form" "$work/names.$protocol.$path" || true))); done
    printf '%-6s %-24s %d\n' "$protocol" "$form" $count
    [[ $count -gt 0 ]] || missing=$((missing + 1))
  done
done <"$work/forms"
[[ $missing -eq 0 ]] || { echo "$missing forms were not reached"; exit 1; }
