#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Trace of a Cortex-M program: handlers by the vector table's symbols, threads that PendSV switches, an unknown profile, and the
# versions of the reference. The trace is made by hand.
set -eu
bin=$1 source=$2
command -v clang >/dev/null && command -v ld.lld >/dev/null || { echo "no clang and lld"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"

cat >"$work/program.s" <<'END'
.syntax unified
.section .vectors, "a"
.word 0x20001000, reset, Default_Handler, Default_Handler, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, PendSV_Handler, SysTick_Handler
.word USART1_IRQHandler, Default_Handler
.text
.macro function name
.balign 32
.type \name, %function
.thumb_func
\name:
.endm
function reset
nop
bl worker
nop
b reset
function worker
nop
nop
nop
bx lr
function other
nop
nop
b other
function SysTick_Handler
nop
bx lr
function PendSV_Handler
nop
bx lr
function USART1_IRQHandler
bx lr
function Default_Handler
b Default_Handler
END
clang --target=thumbv7em-none-eabi -c -o "$work/program.o" "$work/program.s"
echo 'SECTIONS { .vectors 0 : { *(.vectors) } .text 0x1000 : { *(.text) } }' >"$work/program.ld"
ld.lld -T "$work/program.ld" -e 0x1001 -o "$work/program.elf" "$work/program.o"

begin="00 00 00 00 00 00 00 00 00 00 00 80 01 00 04" # ASYNC, TRACE_INFO, TRACE_ON
address() { printf ' 9b %02x %02x 00 00' $(($1 >> 1 & 127)) $(($1 >> 8)); }
context() { printf ' 83 %02x %02x 00 00 20' $(($1 >> 1 & 127)) $(($1 >> 8)); }
except() { printf ' 06 %02x 00' $((0x80 | $1 << 1 | 1)); address "$2"; }
pends() { except 14 "$1"; context 0x1080; printf ' f7 07'; context "$2"; }
bytes() { local byte; for byte in $*; do printf "\\x$byte"; done; }
# reset calls worker; the other thread runs, and is interrupted; worker goes on and returns.
bytes "$begin$(context 0x1000) f7$(pends 0x1024 0x1040)$(except 16 0x1042)$(context 0x10a0) f7 07$(context 0x1042)$(
  pends 0x1044 0x1024) f7$(address 0x1006) f7" >"$work/threads.bin"
# An interrupt that has a handler of its own, one of several, and SysTick.
bytes "$begin$(context 0x1020)$(except 16 0x1022)$(context 0x10a0) f7 07$(except 17 0x1022)$(context 0x10a0) f7 07$(
  except 15 0x1022)$(context 0x1060) f7 07" >"$work/names.bin"
set -- --protocol etmv4i --set TRCCONFIGR=0xc1 --set TRCIDR0=0x280006E1 --set TRCIDR1=0x4100F421 --set TRCIDR2=0x4 \
  --set TRCIDR8=0 --set TRCTRACEIDR=0x10 --elf "$work/program.elf"

check() { # WHAT EXPECTED GOT
  [[ $2 == "$3" ]] || { echo "$1: expected"; echo "$2"; echo "got"; echo "$3"; exit 1; }
}
exceptions() { "$bin/pugmark" list "$@" --type EXCEPTION "$work/names.bin" | sed 's/^ *[0-9]*  10  //'; }

check "handlers by the vector table" "EXCEPTION(pref ret addr:0x1022; excep num (0x10) [IRQ0] ) USART1_IRQHandler
EXCEPTION(pref ret addr:0x1022; excep num (0x11) [IRQ1] )
EXCEPTION(pref ret addr:0x1022; excep num (0x0f) [SysTick] ) SysTick_Handler" "$(exceptions "$@" --core Cortex-M33)"
check "handlers in JSON" 2 "$(exceptions "$@" --core Cortex-M33 --format jsonl | grep -Ec "\"handler\": ?\"[SU]")"
check "handlers in a trace" "-- exception 16 (IRQ0), returns to 0x1022, handled by USART1_IRQHandler" \
  "$("$bin/pugmark" trace "$@" --core Cortex-M33 "$work/names.bin" | grep -m1 '^-- exception')"

check "no profile: no names" "EXCEPTION(pref ret addr:0x1022; excep num (0x10) )
EXCEPTION(pref ret addr:0x1022; excep num (0x11) )
EXCEPTION(pref ret addr:0x1022; excep num (0x0f) )" "$(exceptions "$@" 2>"$work/said")"
check "no profile: that is said once" 1 "$(grep -c 'Name the core with --core' "$work/said")"

check "threads" "reset() {
worker() {
}  /* another thread runs */
}  /* another thread runs */
other() {  /* some thread: which is not known */
[exception 16 (IRQ0)] USART1_IRQHandler();
}  /* another thread runs */
reset() {  /* goes on */
worker() {  /* goes on */
}" "$("$bin/pugmark" calls "$@" --core Cortex-M33 "$work/threads.bin" |
  sed -E '/SRC|PendSV|times are|ends in it/d; s/^  10 +[0-9 ]* +//')"

# Only an M33 of 1.8.0 has exception returns that do not count: the last one waits for ever.
returns() { "$bin/pugmark" list "$@" --type EXCEPTION_RET "$work/names.bin" | grep -c RET; }
check "exception returns" "3 2 2 3" "$(returns "$@" --core Cortex-M33) $(returns "$@" --core Cortex-M33 --reference) $(
  returns "$@" --core Cortex-M33 --reference=1.8.0) $(returns "$@" --core Cortex-M33 --reference=1.8.3)"
if "$bin/pugmark" list "$@" --reference=1.7 "$work/names.bin" 2>"$work/said"; then exit 1; fi
grep -q 'versions that are known are 1.8.0 and 1.8.3' "$work/said"

# The bytes in docs/book/how/cortex-m.md say what the page says.
page() { # SECTION
  bytes "$(sed -n "/^### $1$/,/^##/p" "$source/docs/book/how/cortex-m.md" | sed -nE 's/^\| (([0-9a-f]{2} ?)+) \|.*/\1/p' | paste -sd' ')"
}
said() { "$bin/pugmark" list --quiet "$@" | grep -E 'EXCEPTION|ITMTRACE' | sed -E 's/^ *[0-9]+  [0-9a-f]+  //'; }
page ETMv4 >"$work/etmv4.bin"
check "the page's ETMv4" "EXCEPTION(pref ret addr:0x1022; excep num (0x0f) [SysTick] ) SysTick_Handler
EXCEPTION_RET()
EXCEPTION(excep num (0x0e) [PendSV] ) PendSV_Handler
EXCEPTION_RET()" "$(said "$@" --core Cortex-M33 "$work/etmv4.bin")"
page ETMv3 >"$work/etmv3.bin"
check "the page's ETMv3" "EXCEPTION(pref ret addr:0x1022; excep num (0x0f) [SysTick] ) SysTick_Handler
EXCEPTION_RET()
EXCEPTION(excep num (0x0e) [PendSV] ) PendSV_Handler
EXCEPTION_RET()" "$(said --protocol etmv3 --core Cortex-M4 --set ETMCR=0 --set ETMIDR=0x4114F250 --set ETMCCER=0x10000000 \
  --set ETMTRACEIDR=0x10 --elf "$work/program.elf" "$work/etmv3.bin")"
page SWO >"$work/swo.bin"
check "the page's SWO" "15 entered
15 exited
14 entered
14 exited
0 returned to" "$(said --protocol itm "$work/swo.bin" | sed -E 's/.*exception ([0-9]+) .*(entered|exited|returned to).*/\1 \2/')"
