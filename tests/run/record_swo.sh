#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The truth of SWO: a whole machine's interrupts, samples, watched variable and text, made into ITM and DWT trace, against the
# same run as instruction trace, whose path `pc --verify` compares.
#   record_swo.sh BIN SOURCE
set -eu
bin=$(cd "$1" && pwd) source=$(cd "$2" && pwd)
for tool in qemu-system-arm clang ld.lld; do
  command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }
done
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
want() { # NAME WANTED GOT
  [[ $2 == "$3" ]] || { printf '%s: want %q, got %q\n' "$1" "$2" "$3"; exit 1; }
}
clang -g --target=armv7m-none-eabi -mcpu=cortex-m3 -ffreestanding -O1 -c -o m.o "$source/tests/truth/machine_swo.c"
ld.lld -static -n --defsym=CODE=0 --defsym=DATA=0x20000000 -T "$source/tests/truth/machine_m.ld" -e start -o swo.elf m.o
address_of() { llvm-nm swo.elf 2>/dev/null || nm swo.elf; }
speed=0x$(address_of | awk '$3 == "speed" { print $1 }')
limit=200000 every=1000
timeout 60 "$bin/pugmark" record --quiet --limit $limit --data --protocol itm --set sample=$every --set comp0="$speed" \
  --out direct --path ran -- qemu-system-arm -icount shift=4 -M mps2-an385 -nic none -display none -serial none -kernel swo.elf >said 2>&1 ||
  { cat said; exit 1; }
"$bin/pugmark" record --quiet --from ran --data --protocol itm --set sample=$every --set comp0="$speed" --out swo
cmp -n 10000 direct/trace.bin swo/trace.bin
"$bin/pugmark" record --quiet --from ran --protocol etmv4 --set return_stack=0 --out flow
"$bin/pugmark" pc flow --verify ran >said 2>&1 || { cat said; exit 1; }
"$bin/pugmark" list --events --format jsonl --quiet swo >events
"$bin/pugmark" list flow --quiet >elements
"$bin/pugmark" pc flow --quiet >addresses

# Interrupts: the same numbers in the same order, and as many returns.
grep -v 'debug halt' elements | sed -nE 's/.*EXCEPTION\(.*excep num \(0x([0-9a-f]+)\).*/\1/p' | while read -r number; do echo $((0x$number)); done >wanted
"$bin/pugmark" list --packets --quiet swo | sed -nE 's/.*Exception Num:  0x([0-9a-f]+)\(entered\).*/\1/p' |
  while read -r number; do echo $((0x$number)); done >got
[[ $(wc -l <wanted) -ge 9 ]]
cmp wanted got || { echo "interrupts differ"; exit 1; }
want returns "$(grep -c 'EXCEPTION_RET' elements)" "$("$bin/pugmark" list --packets --quiet swo | grep -c '(exited)')"
"$bin/pugmark" calls --interrupts --quiet --protocol itm --transport coresight --elf swo.elf swo/trace.bin >table
for handler in on_systick on_low on_high; do grep -q "$handler" table || { cat table; exit 1; }; done

# Samples: of the instruction that ran when so many cycles had passed. An instruction takes one, the entry of an exception
# 12, or 6 if it is tail-chained.
"$bin/pugmark" pc --samples --quiet swo | sed 's/^0*//' >got
awk -v every=$every '
  FNR == NR && /INSTR_RANGE/ { match($0, /num_i\([0-9]+/); ran += substr($0, RSTART + 6, RLENGTH - 6) }
  FNR == NR && / EXCEPTION\(/ { entry[ran + 1] += /pref ret addr/ ? 12 : 6 }
  FNR < NR { cycles += 1 + entry[FNR]; if (cycles >= every * (n + 1)) { n++; print $1 } }' elements addresses >wanted
[[ $(wc -l <wanted) -ge 190 ]]
cmp wanted got || { echo "samples differ"; paste wanted got | awk '$1 != $2' | head -3; exit 1; }

# The variable: 3, 6, 9, … at one instruction; and text, values of 16 and 32 bits.
"$bin/pugmark" list --events --quiet --elf swo.elf swo | sed -nE 's/.* speed = ([0-9a-fx]+).*/\1/p' >values
[[ $(wc -l <values) -ge 500 ]]
n=0
while read -r value; do n=$((n + 3)); want speed $n $((value)); done <values
"$bin/pugmark" itm --quiet swo >text
n=0
sed '$d' text | while read -r line; do n=$((n + 1)); want text "round $n" "$line"; done
# Port 4 has 1000 times the ticks so far, port 33 the ticks.
"$bin/pugmark" list --events --quiet swo | awk '
  /SysTick entered/ { ticks++ }
  / port 4 = / { n++; if ($(NF - 1) != 1000 * ticks) { print; exit 1 } }
  / port 33 = / { m++; if ($(NF - 1) != ticks) { print; exit 1 } }
  END { exit !(n >= 3 && m >= 3) }' || { echo "ports 4 and 33 differ"; exit 1; }

# Where trace is lost, an overflow says so, and the rest is as it was.
"$bin/pugmark" record --quiet --from ran --data --protocol itm --loss 10 --random 5 --set timestamps=1 --out lossy
"$bin/pugmark" info lossy >said
grep -q 'losses of trace' said || { cat said; exit 1; }
"$bin/pugmark" itm --quiet lossy >some 2>/dev/null || true
[[ $(grep -c '^round [0-9]*$' some) -ge 100 ]]
