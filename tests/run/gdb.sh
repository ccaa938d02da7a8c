#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `pugmark gdb` in stock GDB: random moves in recordings of five instruction sets and of an M profile core, held against
# the path that ran. `make gdb-truth` makes 10,000 moves of each, and compares 1,000 call stacks.
set -eu
bin=$1 source=$2
command -v gdb-multiarch >/dev/null || { echo "needs gdb-multiarch, which is not installed"; exit 77; }
command -v qemu-aarch64 >/dev/null || { echo "needs QEMU's user emulators, which are not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export HOME=$tmp GDB_TRUTH=$tmp/truth
moves=60 stacks=20 steps=20000
[[ ! ${PUG_TEST_ALL:-} ]] || moves=10000 stacks=1000 steps=100000
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
        $pc =~ s/$/ chain $chain/ if $chain && $_ == 1;
        print $pc;
      }
      ($gap, $trapped, $chain, $next) = (0, 0, "", $4 eq "N" || $5 eq "---" ? $2 : "");
    } elsif (/EXCEPTION\((?:pref ret addr:0x(\w+); )?excep num \(0x(\w+)\)/) {
      my ($address, $number) = ($1, $2);
      if (!$address || $address =~ /^ffffff../) { # from one handler to the next
        $chain = $number;
        next;
      }
      print "$address e $number", $chain ? " chain $chain" : "", "\n";
      ($next, $trapped, $chain) = ($address, 1, "");
    } elsif (/TRACE_ON|NO_SYNC|EO_TRACE/) {
      $gap = 1;
      print "$next s\n" if /EO_TRACE/ && $next && !$trapped;
    }
  ' "$tmp/pcs" >"$tmp/truth"
}

# record SET: a recording, and which options it needs
record() {
  local protocol=etrace
  options=()
  case $1 in
    m3)
      local work=$tmp here=$source/tests/truth
      . "$source/tests/truth/machine_programs.sh"
      build an385 && record_machine an385 "$steps" 2>"$tmp/said"
      "$bin/pugmark" record --quiet --from "$tmp/an385.path" --protocol etmv4 --out "$tmp/m3" --path "$tmp/path" >"$tmp/said"
      options=(--elf "$tmp/an385.elf")
      return
      ;;
    a64) protocol=etmv4 ;;
    [at]32) protocol=ptm ;;
  esac
  "$bin/pugmark" record --quiet --protocol $protocol --out "$tmp/$1" --path "$tmp/path" -- "$tmp/plain.$1" 1 >"$tmp/said"
}

for set in ${GDB_SETS:-a64 a32 t32 rv64 rv32 m3}; do
  [[ $set != m3 ]] || command -v qemu-system-arm >/dev/null ||
    { echo "m3: needs QEMU's machines, which are not installed"; continue; }
  record $set
  "$bin/pugmark" pc "$tmp/$set" --verify "$tmp/path" | grep -q equal
  positions "$tmp/$set"
  if ! timeout 6000 "$bin/pugmark" gdb "$tmp/$set" "${options[@]}" -- -nx -batch -x "$source/tests/run/gdb_moves.py" \
    >"$tmp/said" 2>&1 || ! grep '^good' "$tmp/said" >"$tmp/good"; then
    echo "$set:"
    tail -20 "$tmp/said"
    exit 1
  fi
  echo "$set $(<"$tmp/good")"
done
