#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `pugmark gdb` in stock GDB: random moves in recordings of five instruction sets, held against the path that ran.
set -eu
bin=$1 source=$2
command -v gdb-multiarch >/dev/null || { echo "needs gdb-multiarch, which is not installed"; exit 77; }
command -v qemu-aarch64 >/dev/null || { echo "needs QEMU's user emulators, which are not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export HOME=$tmp GDB_TRUTH=$tmp/truth
moves=60 stacks=20
[[ ! ${PUG_TEST_ALL:-} ]] || moves=10000 stacks=1000
export GDB_MOVES=${GDB_MOVES:-$moves} GDB_STACKS=${GDB_STACKS:-$stacks}
bash "$source/tests/truth/build.sh" "$tmp" plain.a64 plain.a32 plain.t32 plain.rv64 plain.rv32 ||
  { echo "needs clang and lld, which are not installed"; exit 77; }

# positions FOLDER: the address of each position: the path, with the exceptions (e) among it, where a stretch of
# trace ended (s), and before which instructions there is no trace (gap)
positions() {
  "$bin/pugmark" pc "$1" >"$tmp/pcs"
  "$bin/pugmark" list "$1" | perl -ne '
    BEGIN { open $pcs, "<", shift or die }
    if (/INSTR_RANGE\(exec range=0x(\w+):\[0x(\w+)\] num_i\((\d+)\) last_sz\(\d\) \(ISA=\w+\) (\w) (...)/) {
      print "$next s\n" if $gap && $next && !$trapped && $next ne $1;
      for (1 .. $3) {
        my $pc = <$pcs>;
        $pc =~ s/$/ gap/ if $gap && $_ == 1;
        print $pc;
      }
      ($gap, $trapped, $next) = (0, 0, $4 eq "N" || $5 eq "---" ? $2 : "");
    } elsif (/EXCEPTION\(pref ret addr:0x(\w+);/) {
      print "$1 e\n";
      ($next, $trapped) = ($1, 1);
    } elsif (/TRACE_ON|NO_SYNC|EO_TRACE/) {
      $gap = 1;
      print "$next s\n" if /EO_TRACE/ && $next && !$trapped;
    }
  ' "$tmp/pcs" >"$tmp/truth"
}

for set in ${GDB_SETS:-a64 a32 t32 rv64 rv32}; do
  case $set in
    a64) protocol=etmv4 ;;
    [at]32) protocol=ptm ;;
    *) protocol=etrace ;;
  esac
  "$bin/pugmark" record --quiet --protocol $protocol --out "$tmp/$set" --path "$tmp/path" -- "$tmp/plain.$set" 1 >"$tmp/said"
  "$bin/pugmark" pc "$tmp/$set" --verify "$tmp/path" | grep -q equal
  positions "$tmp/$set"
  if ! timeout 600 "$bin/pugmark" gdb "$tmp/$set" -- -nx -batch -x "$source/tests/run/gdb_moves.py" >"$tmp/said" 2>&1 ||
    ! grep '^good' "$tmp/said"; then
    echo "$set:"
    tail -20 "$tmp/said"
    exit 1
  fi
done
