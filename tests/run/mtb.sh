#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# mtb.sh BIN: memory of a Cortex-M0+ with a Micro Trace Buffer somewhere in it, and its program: the last branches before a
# crash, calls, counts and coverage come out, wherever the ring begins, without a register.
set -eu
pugmark=$1/pugmark
command -v clang >/dev/null && command -v ld.lld >/dev/null ||
  { echo "skipped: there is no clang and lld here to make a program for a Cortex-M"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >program.s <<'S'
 .syntax unified
 .thumb
 .global _start
 .long 0x20001000, _start, nmi, hard, 0, 0, 0, 0, 0, 0, 0, svc, 0, 0, pend, tick
 .macro function name
 .thumb_func
 .type \name, %function
\name:
 .endm
 function _start       @ 40
 movs r0, #3
 function loop
 subs r0, #1
 bl work               @ 44
 cmp r0, #0
 bne loop              @ 4a
 svc 0
 nop
 function stop
 b stop                @ 50
 function work
 push {lr}
 nop
 pop {pc}              @ 56
 function nmi
 bx lr
 function hard
 bx lr
 function svc
 nop
 bx lr                 @ 5e
 function pend
 bx lr
 function tick
 bx lr
S
clang --target=thumbv6m-none-eabi -c program.s -o program.o 2>said && ld.lld -Ttext=0 -e _start program.o -o program.elf 2>>said ||
  { echo "skipped: clang makes no program for a Cortex-M here"; cat said; exit 77; }

# What ran: three rounds of the loop, an exception, and on. In memory of 1024 bytes a ring of 16 packets lies at 256; its
# oldest packet is the N-th, and what is around it is anything.
memory() { # N
  perl -e 'my $n = shift; srand 3;
    my @p = map { hex } qw(4a 42 44 52 56 48 4a 42 44 52 56 48 4a 42 44 52
      55 60 60 fffffff8 fffffff9 54 56 48 4f 5c 5e fffffff8 fffffff9 4e 50 50);
    my $ring = pack "V*", @p; my $cut = length($ring) - 8 * $n;
    print join("", map { chr rand 256 } 1 .. 256), substr($ring, $cut), substr($ring, 0, $cut), "\0" x 320, "\xaa" x 320' "$1"
}
for n in 0 1 7 15; do
  memory $n >ram.bin
  "$pugmark" list --quiet --protocol mtb --elf program.elf ram.bin | sed 's/^ *[0-9]* *//' >elements.$n
  cmp elements.0 elements.$n || { echo "it begins elsewhere: $n"; exit 1; }
done
place() { "$pugmark" list --quiet --type EXCEPTION --protocol mtb --elf program.elf ram.bin | awk -v name="$1" '$0 ~ name { print $1 }'; }
svcall=$(place SVCall) pendsv=$(place PendSV)
"$pugmark" trace --last 4 --unit branches --protocol mtb --elf program.elf ram.bin | grep -vE '^--' | awk '{ print $1 }' | paste -sd' ' >last
[ "$(cat last)" = "54 56 48 4a 4c 5c 5e 4e 50" ] || { cat last; exit 1; }
"$pugmark" calls --quiet --protocol mtb --elf program.elf ram.bin >calls
[ "$(grep -c 'work()' calls)" = 3 ] && grep -q 'SVCall.*svc()' calls && grep -q 'PendSV.*pend()' calls || { cat calls; exit 1; }
"$pugmark" profile --quiet --format folded --protocol mtb --elf program.elf ram.bin >folded
grep -qE 'work' folded || { cat folded; exit 1; }
"$pugmark" find --quiet --address 0x5c --protocol mtb --elf program.elf ram.bin >/dev/null

# Exceptions by number, by the architecture's name, by the handler's; and what ran before one.
for name in 11 SVCall svc; do
  [ "$(echo $("$pugmark" find --quiet --exception $name --protocol mtb --elf program.elf ram.bin))" = "$svcall 00 11" ]
done
[ "$(echo $("$pugmark" find --quiet --exception pendsv --protocol mtb --elf program.elf ram.bin))" = "$pendsv 00 14" ]
[ "$(echo $("$pugmark" find --quiet --exception 14 --before $((pendsv + 1)) --protocol mtb --elf program.elf ram.bin))" = "$pendsv 00 14" ]
code=0
"$pugmark" find --quiet --exception SysTick --protocol mtb --elf program.elf ram.bin 2>said || code=$?
[ $code = 1 ]
"$pugmark" trace --before exception --last 2 --protocol mtb --elf program.elf ram.bin >before
[ "$(tail -1 before)" = '-- exception 11 (SVCall), returns to 0x4e, handled by svc' ] && [ "$(awk '$1 == "4c"' before | wc -l)" = 1 ] || { cat before; exit 1; }

# A second program with a table of its own: which exception it was is still known, for the handler's address says so. Its
# handler has another name in the other table, so no name is said.
sed 's/\<_start\>/other/g; s/\<svc\>$/other_svc/; s/nmi, hard, 0, 0, 0, 0, 0, 0, 0, svc,/nmi, hard, 0, 0, 0, 0, 0, 0, 0, other_svc,/; s/^ function svc$/ function other_svc/' program.s >other.s
clang --target=thumbv6m-none-eabi -c other.s -o other.o
echo 'SECTIONS { .text 0x8000 : { *(.text) } /DISCARD/ : { *(.ARM.*) } }' >other.ld
ld.lld -n -T other.ld -e other other.o -o other.elf
"$pugmark" list --quiet --type EXCEPTION --protocol mtb --elf program.elf --elf other.elf ram.bin >listed
grep -qF '[SVCall] )' listed && grep -qF '[PendSV] ) pend' listed && ! grep -q 'svc$' listed || { cat listed; exit 1; }

# Another program, and memory without a buffer, get a sentence.
code=0
perl -e 'print "\x55\xaa\0\0" x 64' >none.bin
"$pugmark" list --protocol mtb --elf program.elf none.bin >out 2>said || code=$?
[ $code = 1 ] && grep -q 'no pair of words is a branch of this program' said || { echo $code; cat said; exit 1; }
