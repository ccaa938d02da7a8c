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
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
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

# Memory that was read from the target and has zeros where the table is: the program under it still names handlers.
mkdir dump
head -c 4096 /dev/zero >dump/flash.bin
cp motor.swo dump/trace.bin
printf '[snapshot]\nversion=1.0\n[device_list]\ndevice0=cpu.ini\ndevice1=itm.ini\n[trace]\nmetadata=trace.ini\n' >dump/snapshot.ini
printf '[trace_buffers]\nbuffers=b\n[b]\nname=ETB\nfile=trace.bin\nformat=source_data\n[source_buffers]\nitm_0=ETB\n[core_trace_sources]\ncpu_0=itm_0\n' >dump/trace.ini
printf '[device]\nname=cpu_0\nclass=core\ntype=Cortex-M4\n[dump]\naddress=0x08000000\nlength=4096\nfile=flash.bin\n' >dump/cpu.ini
printf '[device]\nname=itm_0\nclass=trace_source\ntype=ITM\n[regs]\nITMTCR=0x00000001\n' >dump/itm.ini
for command in "calls --interrupts" "calls --by-time" "timeline --format chrome" "list --events"; do
  # shellcheck disable=SC2086
  "$pugmark" $command --quiet --elf motor.elf dump >table
  says "$command: zeros over the table" SysTick_Handler table
done

# Two tables, of a loader and an application: a name that both have, or that one alone has, is one; else VTOR has to say
# which it was.
sed 's/SysTick_Handler/loader_tick/; s/void SysTick_Handler/void loader_tick/; s/UART_IRQHandler/SysTick_two/' motor.c |
  sed 's/void SysTick_Handler/void loader_tick/; s/Default_Handler, SysTick_Handler,/Default_Handler, loader_tick,/' >loader.c
sed 's/0x08000000/0x08010000/; s/0x20000000/0x20008000/' motor.ld >loader.ld
clang --target=thumbv7m-none-eabi -O1 -g -ffreestanding -nostdlib -fuse-ld=lld -Wl,-T,loader.ld -Wl,-e,Reset_Handler -o loader.elf loader.c
both=(--quiet --protocol itm --elf motor.elf --elf loader.elf)
"$pugmark" calls --interrupts "${both[@]}" motor.swo >table
says 'two tables that differ' ' SysTick ' table
"$pugmark" calls --interrupts "${both[@]}" --set VTOR=0x08010000 motor.swo >table
says 'the table at VTOR' loader_tick table
"$pugmark" calls --interrupts "${both[@]}" --set VTOR=0x08000000 motor.swo >table
says 'the other table' SysTick_Handler table
says 'the other table' UART_IRQHandler table
sed 's/loader_tick/SysTick_Handler/' loader.c >loader2.c
clang --target=thumbv7m-none-eabi -O1 -g -ffreestanding -nostdlib -fuse-ld=lld -Wl,-T,loader.ld -Wl,-e,Reset_Handler -o loader.elf loader2.c
"$pugmark" calls --interrupts "${both[@]}" motor.swo >table
says 'two tables that agree' SysTick_Handler table
[[ $(echo $("$pugmark" find --exception SysTick_two "${both[@]}" motor.swo)) == *' 00 17' ]]
"$pugmark" info --protocol itm --elf motor.elf --elf loader.elf motor.swo >said
says 'two tables are said' '2 vector tables in the program, at 0x08000000, 0x08010000: where they name different handlers, --set VTOR=ADDRESS says which was used' said
