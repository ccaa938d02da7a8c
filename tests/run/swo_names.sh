#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The program's words for what a DWT saw: handlers of the vector table, variables and their members, values by their
# types, lines.
#   swo_names.sh BIN SOURCE
set -eu
bin=$1 source=$2
pugmark=$bin/pugmark
if ! command -v clang >/dev/null || ! command -v ld.lld >/dev/null; then
  echo "no clang or no ld.lld: there is no program whose names could be looked at"
  exit 77
fi
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$tmp"
says() { # NAME WORDS FILE
  grep -qF -- "$2" "$3" || { printf '%s: no %q in\n' "$1" "$2"; cat "$3"; exit 1; }
}
cat >motor.c <<'C'
enum state { IDLE, RUNNING = 3, STALLED = -1 };
struct motor {
    short speed;
    enum state state;
    float gain;
    struct { unsigned char id, on : 1; } channel[3];
};
struct motor motor;
volatile int speed;
volatile unsigned ticks;
_Bool ready;
static char letter;
void Reset_Handler(void);
void set_speed(int value)
{
    speed = value;
    motor.speed = (short)value;
}
void SysTick_Handler(void) { ticks++; letter = (char)ticks; }
void UART_IRQHandler(void) { ticks += 2; ready = 1; }
void Default_Handler(void) { for (;;) ; }
void Reset_Handler(void) { for (int i = 0;; i++) set_speed(i); }
char read_letter(void) { return letter; }
__attribute__((section(".vectors"), used)) const void *vectors[] = {
    (void *)0x20001000, Reset_Handler, Default_Handler, Default_Handler, Default_Handler, Default_Handler,
    Default_Handler, 0, 0, 0, 0, Default_Handler, Default_Handler, 0, Default_Handler, SysTick_Handler,
    Default_Handler, UART_IRQHandler};
C
cat >motor.ld <<'L'
SECTIONS {
  . = 0x08000000;
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
  . = 0x20000000;
  .bss : { *(.bss*) *(COMMON) }
  /DISCARD/ : { *(.ARM.exidx*) }
}
L
clang --target=thumbv7m-none-eabi -O1 -g -ffreestanding -nostdlib -fuse-ld=lld -Wl,-T,motor.ld -Wl,-e,Reset_Handler \
  -o motor.elf motor.c
address() { nm motor.elf | awk -v name="$1" '$3 == name { print "0x" $1 }'; }
code=$(($(address set_speed) & ~1)) speed=$(address speed) motor=$(address motor) letter=$(address letter) ready=$(address ready)
perl -I"$source/tests/support" -Mswo -e "
  swo::sync;
  swo::watch(0, $code + 2, $speed & 0xffff, 4, -3); swo::time(10);
  swo::watch(1, $code + 2, $motor & 0xffff, 2, 0xfffe); swo::time(10);
  swo::watch(1, $code + 2, ($motor & 0xffff) + 4, 1, 3); swo::time(10);
  swo::watch(1, $code + 2, ($motor & 0xffff) + 4, 1, 0xff); swo::time(10);
  swo::watch(1, $code + 2, ($motor & 0xffff) + 8, 4, 0x3fc00000); swo::time(10);
  swo::watch(1, $code + 2, ($motor & 0xffff) + 14, 1, 7); swo::time(10);
  swo::watch(2, $code + 2, $letter & 0xffff, 1, 65); swo::time(10);
  swo::watch(3, $code + 2, $ready & 0xffff, 1, 1); swo::time(10);
  swo::enter(15); swo::time(5); swo::leave(15); swo::time(6); swo::back(0); swo::time(1);
  swo::enter(17); swo::time(5); swo::leave(17); swo::time(6); swo::back(0); swo::time(1);
  swo::enter(14); swo::time(5); swo::leave(14); swo::time(6); swo::back(0); swo::time(1);
  swo::sample($code); swo::time(20); swo::sample(0x90000000); swo::time(20); swo::done" >motor.swo
settings=(--quiet --protocol itm --set DWT_COMP0="$speed" --set DWT_COMP1="$motor" --set DWT_COMP2="$letter"
  --set DWT_COMP3="$ready" --elf motor.elf)
"$pugmark" timeline --format chrome "${settings[@]}" motor.swo >timeline
line=$(grep -n 'speed = value' motor.c | head -1 | cut -d: -f1)
says symbols '"name": "SysTick_Handler"' timeline
says symbols '"name": "UART_IRQHandler"' timeline
says 'a default handler is no name' '"name": "PendSV"' timeline
"$pugmark" profile "${settings[@]}" motor.swo >lines
if grep -qF motor.c: lines; then # built with DWARF
  says signed "speed = -3 at motor.c:$line" timeline
  says 'a counter' '"name": "speed", "pid": 0, "tid": 3, "ts": 10, "args": {"value": -3}' timeline
  for words in 'motor.speed = -2 at' 'motor.state = RUNNING at' 'motor.state = STALLED at' 'motor.gain = 1.5 at' \
    'motor.channel[1].id = 7 at' "letter = 65 'A' at" 'ready = true at'; do
    says types "$words" timeline
  done
else
  says 'symbols alone' 'speed = 0xfffffffd at set_speed+0x2' timeline
fi
"$pugmark" calls --interrupts "${settings[@]}" motor.swo >table
says table 'SysTick_Handler' table
"$pugmark" profile "${settings[@]}" motor.swo >table
says samples set_speed table
[[ $(echo $("$pugmark" find --exception uart "${settings[@]}" motor.swo)) == *' 00 17' ]]
[[ $(echo $("$pugmark" find --exception SysTick_Handler "${settings[@]}" motor.swo)) == *' 00 15' ]]
"$pugmark" info "${settings[@]}" motor.swo >said
says 'another build' '1 of 2 PC samples are where the program has no code: it is another build' said
"$pugmark" list --events --format csv --match motor.gain "${settings[@]}" motor.swo >listed
says 'events, CSV' "50,1,0," listed
says 'events, CSV' "motor.gain,float,1.5,0x" listed
# The program of another core is none of this one's.
"$pugmark" calls --interrupts --quiet --protocol itm --elf motor.elf@SOURCE=0 motor.swo >table
says 'its own program' 'SysTick_Handler' table
"$pugmark" calls --interrupts --quiet --protocol itm --elf motor.elf@SOURCE=9 motor.swo >table
if grep -q _Handler table; then
  echo "names of another core's program"
  exit 1
fi
