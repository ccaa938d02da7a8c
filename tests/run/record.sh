#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `pugmark record --from` takes a list of addresses and QEMU's own log, and says why it takes nothing.
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
awk '{printf "Trace 0: 0x7f0000000140 [00000000/%016s/00000000/ff000201] \n", $1
      if (NR % 50 == 0) print "Stopped execution of TB chain before 0x7f01 [0] main"}' "$path" |
  sed 's|/ *\([0-9a-fx]*\)/|/\1/|' >"$tmp/log"
record() { # input, folder
  "$bin/pugmark" record --quiet --protocol etmv4 --from "$1" --elf "$tmp/program" --out "$tmp/$2"
}
record "$path" a
record "$tmp/log" b
cmp "$tmp/a/trace.bin" "$tmp/b/trace.bin"
"$bin/pugmark" pc "$tmp/b" | cmp - "$path"

# Spike's commit log says itself what ran.
cat >"$tmp/spike" <<'LOG'
core   0: 3 0x0000000000001000 (0x00000297) x5  0x0000000000001000
core   0: 3 0x0000000000001004 (0x02028593) x11 0x0000000000001020
core   0: 3 0x0000000000001008 (0xf1402573) x10 0x0000000000000000
core   0: 3 0x000000000000100c (0x00001463)
core   0: exception trap_user_ecall, epc 0x0000000000001010
core   0:           tval 0x0000000000000000
core   0: 3 0x0000000000001000 (0x00000297) x5  0x0000000000001000
LOG
printf '%s\n' 1000 1004 1008 100c 1000 >"$tmp/expected"
for protocol in etrace ntrace; do
  "$bin/pugmark" record --quiet --protocol $protocol --from "$tmp/spike" --out "$tmp/$protocol"
  "$bin/pugmark" pc "$tmp/$protocol" | cmp - "$tmp/expected"
  "$bin/pugmark" list "$tmp/$protocol" | grep -q EXCEPTION
done

# Of 32 bits, with C.JAL; a branch that was taken, though a trap came before its target ran; and a trap in front
# of the first trap's handler.
cat >"$tmp/spike" <<'LOG'
core   0: 3 0x80000000 (0x00000463)
core   0: exception trap_instruction_access_fault, epc 0x80000008
core   0: exception trap_illegal_instruction, epc 0x80000100
core   0: 3 0x80000200 (0x2011)
core   0: 3 0x80000204 (0x0001)
LOG
printf '%s\n' 80000000 80000200 80000204 >"$tmp/expected"
for protocol in etrace ntrace; do
  "$bin/pugmark" record --quiet --protocol $protocol --from "$tmp/spike" --out "$tmp/$protocol"
  "$bin/pugmark" pc "$tmp/$protocol" | cmp - "$tmp/expected"
  "$bin/pugmark" list "$tmp/$protocol" >"$tmp/said"
  grep -q '80000000:.*E BR ' "$tmp/said"
  [[ $(grep -c 'EXCEPTION(' "$tmp/said") == 2 ]]
done

# It has contexts, too: the address space in satp, or scontext where that is written.
cat >"$tmp/spike" <<'LOG'
core   0: 1 0x0000000080000000 (0x18029073) c384_satp 0x8000500000080000
core   0: 1 0x0000000080000004 (0x00000013)
core   0: 1 0x0000000080000008 (0x5a829073) c1448_scontext 0x0000000000000033
core   0: 1 0x000000008000000c (0x18029073) c384_satp 0x8000700000080000
core   0: 1 0x0000000080000010 (0x00000463)
core   0: 1 0x0000000080000018 (0x00000013)
LOG
sed 's/0x00000000\(800000..\) /0x\1 /;s/0x8000500000080000/0x81480000/;s/0x8000700000080000/0x81c80000/' "$tmp/spike" >"$tmp/spike32"
for spike in spike spike32; do
  for protocol in etrace ntrace; do
    "$bin/pugmark" record --quiet --protocol $protocol --from "$tmp/$spike" --out "$tmp/$protocol" --path "$tmp/ran"
    "$bin/pugmark" pc "$tmp/$protocol" --verify "$tmp/ran" | grep -q equal
    [[ $("$bin/pugmark" list "$tmp/$protocol" | grep -o 'CTXTID=0x[0-9a-f]*' | tail -2 | tr '\n' ' ') == 'CTXTID=0x5 CTXTID=0x33 ' ]]
  done
done

# All of them may be FIFOs.
mkfifo "$tmp/fifo"
cat "$path" >"$tmp/fifo" &
record "$tmp/fifo" piped
"$bin/pugmark" pc "$tmp/piped" | cmp - "$path"
"$bin/pugmark" record --quiet --from "$path" --elf "$tmp/program" --path "$tmp/fifo" &
timeout 60 "$bin/pugmark" record --quiet --protocol etmv4 --from "$tmp/fifo" --out "$tmp/piped" --path "$tmp/ran"
wait
"$bin/pugmark" pc "$tmp/piped" | cmp - "$path"
"$bin/pugmark" pc "$tmp/piped" --verify "$tmp/ran" | grep -q equal
if "$bin/pugmark" pc "$tmp/piped" --verify "$tmp/fifo" 2>"$tmp/said"; then exit 1; fi
grep -q 'read several times' "$tmp/said"

# Nothing to record is said.
refuses() { # words, input
  local code=0
  record "$2" c 2>"$tmp/said" || code=$?
  [[ $code == 3 ]] && grep -q "$1" "$tmp/said" || { echo "expected '$1', got $code:"; cat "$tmp/said"; exit 1; }
}
refuses 'no path, and no log' /dev/null
echo 'CPU Reset (CPU 0)' >"$tmp/words"
refuses 'no path, and no log' "$tmp/words"
echo 'Trace 0: 0x7f' >"$tmp/cut"
refuses 'no path, and no log' "$tmp/cut"
echo 10 >"$tmp/elsewhere"
refuses 'the program has nothing at 0x10' "$tmp/elsewhere"

# What is wrong is found before the program runs: the emulator is not started.
printf '#!/bin/sh\n>"%s/started"\n' "$tmp" >"$tmp/emulator"
chmod +x "$tmp/emulator"
echo >"$tmp/file"
refused() { # code, words, option ...
  local code=0 wanted=$1 words=$2
  shift 2
  "$bin/pugmark" record --qemu "$tmp/emulator" "$@" -- "$source/examples/crash/crash" 2>"$tmp/said" || code=$?
  [[ $code == "$wanted" ]] && grep -qe "$words" "$tmp/said" && [[ ! -e $tmp/started ]] && return
  echo "$*: expected '$words' and $wanted, got $code:"
  cat "$tmp/said"
  exit 1
}
refused 2 'no such option' --protocol etmv4 --out "$tmp/d" --set nope=1
refused 2 'that is too much' --protocol etmv4 --out "$tmp/d" --set cycles=9
refused 2 'expected NAME=VALUE' --protocol etmv4 --out "$tmp/d" --set cycles
refused 2 "there is no function 'no_such_function'" --protocol etmv4 --out "$tmp/d" --filter call --filter no_such_function
refused 2 "there is no function 'no_such_function'" --path "$tmp/p" --filter no_such_function
refused 2 "there is no function 'fimd'; is find meant?" --protocol etmv4 --out "$tmp/d" --filter fimd
refused 2 'no code of line crash.c:1 is known' --protocol etmv4 --out "$tmp/d" --filter crash.c:1
refused 2 'no code of line crash.c:1 is known' --protocol etmv4 --out "$tmp/d" --filter find-crash.c:1
refused 2 'the end is not behind the start' --protocol etmv4 --out "$tmp/d" --filter find-call
refused 2 "'0x10': expected a function" --protocol etmv4 --out "$tmp/d" --filter 0x10
refused 2 'it traces no processor with these instructions' --protocol etrace --out "$tmp/d"
refused 2 'perf.data has no trace of this kind' --protocol ntrace --perf "$tmp/d"
refused 2 '--loss takes a percentage' --protocol etmv4 --out "$tmp/d" --loss 100
refused 2 '--calls takes' --protocol etmv4 --out "$tmp/d" --calls no
refused 3 'no/such/d: No such file' --protocol etmv4 --out "$tmp/no/such/d"
refused 3 'file/d: Not a directory' --protocol etmv4 --out "$tmp/file/d"
refused 3 'file: Not a directory' --protocol etmv4 --out "$tmp/file"
refused 3 'no/d: No such file' --protocol etmv4 --perf "$tmp/no/d"
refused 3 "$tmp: Is a directory" --protocol etmv4 --perf "$tmp"
refused 3 'no/p: No such file' --protocol etmv4 --out "$tmp/d" --path "$tmp/no/p"
[[ ! -e $tmp/d && ! -e $tmp/p ]]

# Options that cannot be are refused.
for bad in '--protocol nothing' '--protocol etmv4 --set nothing=1' '--protocol etmv3' \
  '--protocol etmv4 --loss 100' '--protocol etmv4 --snapshot-mode' '--protocol etmv4 --calls no' ''; do
  # shellcheck disable=SC2086
  if "$bin/pugmark" record $bad --from "$path" --elf "$tmp/program" --out "$tmp/d" 2>"$tmp/said"; then
    echo "taken: $bad"
    exit 1
  fi
  grep -q pugmark: "$tmp/said"
done
for protocol in etmv4 ete; do
  if "$bin/pugmark" record --protocol $protocol --set conditional=1 --from "$path" --elf "$tmp/program" --out "$tmp/d" \
    2>"$tmp/said"; then exit 1; fi
  grep -q 'nobody decodes conditional tracing' "$tmp/said"
done

# A processor where nothing ran takes no id from those where something did.
{
  printf 'pugpath\1\2\0\0'
  printf 'T\0\0\5\6T\1\0\5\7'                # two threads
  printf 'B\1\0\4\1\2\3\340E\1\0\1\1Z'      # the second one runs a block
} >"$tmp/idle"
"$bin/pugmark" record --quiet --protocol etmv4 --from "$tmp/idle" --id 111 --out "$tmp/idle.out" --path "$tmp/ran" 2>"$tmp/said"
[[ ! -s $tmp/said ]]
"$bin/pugmark" pc "$tmp/idle.out" --verify "$tmp/ran" | grep -qx 'equal: 1 instructions of 1 processor'
