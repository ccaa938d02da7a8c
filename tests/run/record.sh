#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The recording tool takes a list of addresses and QEMU's own log, and says why it takes nothing.
set -eu
bin=$1 source=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# The demonstration's program as an ELF file with one segment.
perl -e '
  my ($dump, $address) = @ARGV;
  local $/; open my $in, "<", $dump or die; binmode $in; my $code = <$in>;
  print pack("a16 S<S<L<Q<Q<Q<L<S<S<S<S<S<S<", "\x7fELF\x02\x01\x01", 2, 183, 1, hex $address, 64, 0, 0,
             64, 56, 1, 0, 0, 0),
        pack("L<L<Q<Q<Q<Q<Q<Q<", 1, 5, 120, hex $address, hex $address, length $code, length $code, 4),
        $code;' "$source/examples/demo/program.bin" \
  "$(sed -n 's/^address=0x//p' "$source/examples/demo/cpu_0.ini")" >"$tmp/program"

path=$source/examples/demo/path.txt
awk '{printf "Trace 0: 0x7f0000000140 [00000000/%016s/00000000/ff000000] \n", $1
      if (NR % 50 == 0) print "Stopped execution of TB chain before 0x7f01 [0] main"}' "$path" |
  sed 's|/ *\([0-9a-fx]*\)/|/\1/|' >"$tmp/log"
"$bin/record" --elf "$tmp/program" --out "$tmp/a" --return-stack <"$path"
"$bin/record" --elf "$tmp/program" --out "$tmp/b" --return-stack <"$tmp/log"
cmp "$tmp/a/trace.bin" "$tmp/b/trace.bin"
"$bin/pugmark" pc "$tmp/b" | cmp - "$path"

# Nothing to record is said.
refuses() { # words, input
  local code=0
  "$bin/record" --elf "$tmp/program" --out "$tmp/c" <"$2" 2>"$tmp/said" || code=$?
  [[ $code == 1 ]] && grep -q "$1" "$tmp/said" || { echo "expected '$1', got $code:"; cat "$tmp/said"; exit 1; }
}
refuses 'no addresses' /dev/null
echo 'CPU Reset (CPU 0)' >"$tmp/words"
refuses 'no addresses' "$tmp/words"
echo 'Trace 0: 0x7f' >"$tmp/cut"
refuses 'no addresses' "$tmp/cut"
echo 10 >"$tmp/elsewhere"
refuses 'no program memory at 0x10' "$tmp/elsewhere"
