#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark check: rules with known answers over captures that are made here, where each instruction's time is known.
#   check.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
for tool in clang ld.lld perl; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool here to make a program and its path"; exit 77; }
done
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
fail() { echo "$*"; bad=1; }

# ---- a program: each function begins at a multiple of 64 ----

cat >program.s <<'END'
.macro function name
.balign 64
.global \name
.type \name, %function
\name:
.endm
.macro end name
.size \name, . - \name
.endm
.text
function _start // 10000
bl control
bl lock
bl unlock
bl tail
bl deep
b _start
end _start
function control // 10040
nop
bl helper
nop
ret
end control
function helper // 10080
nop
nop
ret
end helper
function lock // 100c0
nop
ret
end lock
function unlock // 10100
nop
ret
end unlock
function tail // 10140
nop
b helper
end tail
function isr // 10180
nop
bl adc
eret
end isr
function adc // 101c0
nop
ret
end adc
function panic // 10200
nop
ret
end panic
function deep // 10240
cbz x0, 1f
bl deep
1: ret
end deep
END
clang --target=aarch64-none-elf -g -c program.s -o program.o 2>said && ld.lld -Ttext=0x10000 -e _start program.o -o program.elf ||
  { echo "skipped: this clang makes nothing for aarch64"; exit 77; }
ld.lld -Ttext=0x10000 --oformat binary program.o -o program.bin
path() { perl "$source/tests/support/path_file.pl" program.bin 10000 >"$1.path" || exit 1; }
# record NAME PATH OPTIONS...
record() {
  local name=$1 path=$2
  shift 2
  "$pugmark" record --quiet --from "$path.path" --elf program.elf --protocol etmv4 --core Cortex-A53 --out "$name" "$@" || exit 1
}

# expect OPTIONS... CAPTURE <<"VERDICT RULE": checks all rules at once, on one thread and on two.
expect() {
  local jobs
  cat >table
  sed -E 's/^[a-z]+ +//' table >rules
  sed -E 's/ .*//' table >want
  for jobs in 1 2; do
    "$pugmark" check --jobs $jobs --format json rules "$@" >out.$jobs 2>said
    grep -oE '"verdict": "[a-z]+"' out.$jobs | sed -E 's/.*"([a-z]+)"$/\1/' >got
    if [[ ! -s got ]]; then
      fail "$*: no verdicts: $(head -n 5 said)"
    elif ! cmp -s want got; then
      fail "$*: $(paste want got rules | awk -F'\t' '$1 != $2 { print "  not " $1 " but " $2 ": " $3 }')$(head -n 5 said)"
    fi
    rules_checked=$((rules_checked + $(wc -l <want)))
  done
  cmp out.1 out.2 || fail "$*: two threads say something else"
}
rules_checked=0

# ---- calls, with a time after each branch ----

# control is entered at 1001, 11001, 21101; helper runs in it for 1000 ns, and once by a tail call.
path flow <<'END'
at 1000
run 10000 1
run 10040 2
at 2000
run 10080 3
at 3000
run 10048 2
at 4000
run 10004 1
run 100c0 2
at 5000
run 10008 1
run 10100 2
at 6000
run 1000c 1
run 10140 2
at 7000
run 10080 3
at 8000
run 10010 1
run 10240 2
run 10240 2
run 10240 2
at 9000
run 10240 1
run 10248 1
run 10248 1
run 10248 1
at 10000
run 10014 1
at 11000
run 10000 1
run 10040 2
at 12500
run 10080 3
at 13000
run 10048 2
at 14000
run 10004 1
run 100c0 2
at 15000
run 10008 1
run 10100 2
at 16000
run 1000c 1
run 10140 2
at 17000
run 10080 3
at 18000
run 10010 1
END

record exact flow --times 1
expect --elf program.elf --clock 1000000000 exact <<'END'
holds     control takes < 3us
violated  control takes < 2900ns
holds     control takes <= 2999ns
violated  control takes < 2999ns
holds     control takes == 2999ns shortest
holds     control takes < 3000ns p99
holds     control takes < 6000 ns total
violated  control takes < 5900 ns total
holds     control takes > 2us
holds     control takes < 2500ns own
violated  control takes < 1us own
holds     helper takes <= 1us
holds     control takes < 3us without interrupts
holds     control takes < 3us mean
violated  control takes < 2us mean
holds     control takes < 3001 ticks
undecided control takes < 100 cycles
holds     control instructions == 7
violated  control instructions < 7
holds     helper instructions <= 3
holds     tail instructions == 5
holds     tail takes < 2us
violated  tail takes < 1us
holds     tail takes < 1us own
holds     control runs every 10us ±100ns
holds     control runs every 10us +- 1%
violated  control runs every 8us ±10%
undecided panic runs every 1ms ±50us
violated  panic runs every 1us ±50ns
holds     lock within 3100ns after control
violated  lock within 2us after control
holds     control within 4us before lock
violated  control within 2us before lock
holds     unlock follows lock
violated  panic follows lock
holds     unlock follows lock within 1us
violated  unlock follows control within 10ns
holds     panic never runs
violated  lock never runs
violated  0x100c0 never runs
holds     0x10200 never runs
holds     lock runs
violated  panic runs
holds     lock runs == 2 times
violated  lock runs > 2 times
holds     helper runs == 4 times
holds     no exception
holds     exception IRQ never
holds     exception SysTick never
holds     helper not in lock
violated  helper not in control
holds     helper not in interrupt
holds     deep only in deep unless undecided
violated  helper only in control
holds     control only in _start
holds     depth of _start <= 4
violated  depth of _start <= 3
holds     depth of deep < 4
violated  depth of _start > 4
holds     depth of control == 1
holds     no loss
holds     program matches
holds     no gap longer than 1us
undecided itm port 0 never matches "ASSERT"
undecided itm port 0 matches "ready"
undecided thread main share < 50%
holds     "named rule": lo?k takes < 1us
holds     *lock takes < 1us
holds     lock in program.s takes < 1us
END
# ---- rare times: the time between two of them is unknown ----

record sparse flow --times 30
expect --elf program.elf --clock 1000000000 sparse <<'END'
undecided control takes < 3us
undecided control takes > 1s
undecided control takes < 1s
undecided helper takes < 600ns
undecided lock takes < 10ns unless undecided
holds     control instructions == 7
undecided control runs every 10us ±100ns
undecided lock within 3100ns after control
holds     unlock follows lock
holds     lock runs == 2 times
END

# Without timestamps no time is known, which is said before anything is decoded; the other rules are checked.
record untimed flow --set timestamps=0
expect --elf program.elf untimed <<'END'
undecided control takes < 3us
undecided control takes < 3000 ticks
undecided control runs every 10us ±100ns
undecided no gap longer than 1ms
holds     lock runs == 2 times
violated  lock never runs
holds     control instructions <= 7
holds     control within 10 instructions before lock
violated  lock within 5 instructions after control
END
grep -q '^rules:1: undecided: control takes < 3us: the trace was recorded without timestamps$' said ||
  fail "untimed: not said before: $(head -n 1 said)"
# A clock of unknown rate gives ticks.
expect --elf program.elf exact <<'END'
undecided control takes < 3us
holds     control takes < 3000 ticks
END
grep -q 'say it with --clock HZ' said || fail "no clock: $(head -n 1 said)"

# ---- cycles ----

record cycles flow --set cycles=1 --set timestamps=0 --cycle-counts 1
expect --elf program.elf cycles <<'END'
holds     control takes < 1000000 cycles
violated  control takes > 1000000 cycles
holds     control cycles < 1000000
undecided control takes < 3us
END

# ---- interrupts: isr comes in control and in lock, and calls adc ----

path interrupts <<'END'
at 1000
run 10000 1
run 10040 1
irq 14 10044
at 2000
run 10180 2
at 2100
run 101c0 2
at 2200
run 10188 1
eret 10044
run 10044 1
at 3000
run 10080 3
at 4000
run 10048 2
at 5000
run 10004 1
run 100c0 1
irq 14 100c4
at 6000
run 10180 2
run 101c0 2
at 6500
run 10188 1
eret 100c4
run 100c4 1
at 7000
run 10008 1
run 10100 2
at 8000
run 1000c 1
END
record interrupts interrupts --times 1
expect --elf program.elf --clock 1000000000 interrupts <<'END'
violated  adc not in interrupt
holds     helper not in interrupt
violated  no exception
holds     no exception but IRQ
holds     no exception but FIQ, IRQ
violated  exception IRQ never
holds     exception FIQ never
holds     isr runs == 2 times
holds     adc only in isr
violated  adc not in isr
holds     adc within 1100ns after exception IRQ
violated  adc within 10ns after exception IRQ
holds     control instructions == 7
holds     lock instructions == 2
holds     control takes > 3us
holds     control takes < 3800ns without interrupts
violated  control takes < 3700ns without interrupts
holds     control takes < 3000ns own
violated  control takes < 2900ns own
holds     depth of _start <= 2
holds     unlock follows lock
END

# ---- trace that begins and ends in a call, and a loss ----

path cut <<'END'
at 1000
run 10048 2
at 2000
run 10004 1
run 100c0 1
at 3000
run 100c4 1
END
record cut cut --times 1
expect --elf program.elf --clock 1000000000 cut <<'END'
undecided control takes < 1s
undecided control runs == 1 times
holds     control runs <= 1 times
holds     control only in _start
holds     depth of _start <= 3
holds     no loss
undecided lock takes < 1s
END
expect --strict --elf program.elf --clock 1000000000 cut <<'END'
undecided control takes < 1s
undecided depth of _start <= 3
END
for allow in '' --allow-undecided; do
  # shellcheck disable=SC2086
  "$pugmark" check $allow --rule "control takes < 1s" --elf program.elf --clock 1000000000 cut >out 2>&1
  echo $?
done | paste -sd' ' | grep -qx '3 0' || fail "exit codes of undecided rules"
"$pugmark" check --rule "control takes < 1s unless undecided" --elf program.elf --clock 1000000000 cut >out 2>&1 ||
  fail "unless undecided: exit $?"

# Three hundred rounds, of which trace is lost: what was not seen may have been.
perl -e 'for (0 .. 299) { my $t = 10000 * $_;
  printf "at %d\nrun 10000 1\nrun 10040 2\nat %d\nrun 10080 3\nat %d\nrun 10048 2\nat %d\nrun 10004 1\nrun 100c0 2\nat %d\n" .
    "run 10008 1\nrun 10100 2\nat %d\nrun 1000c 1\nrun 10140 2\nrun 10080 3\nrun 10010 1\nrun 10240 1\nrun 10248 1\nrun 10014 1\n",
    map { $t + $_ } 1000, 2000, 3000, 4000, 5000, 6000 }' | path rounds
record lossy rounds --times 1 --loss 25
expect --elf program.elf --clock 1000000000 lossy <<'END'
violated  no loss
undecided panic never runs
violated  lock never runs
undecided lock runs == 300 times
violated  lock runs < 5 times
holds     lock runs > 5 times
undecided panic runs
undecided no exception
undecided exception IRQ never
undecided helper not in lock
violated  helper not in control
undecided depth of _start <= 3
violated  control takes < 2us
undecided control takes < 10us
undecided control takes < 10us p99
undecided control takes >= 1us shortest unless undecided
violated  no gap longer than 1us
undecided unlock follows lock
undecided helper only in _start unless undecided
END
record rounds rounds --times 1
expect --elf program.elf --clock 1000000000 rounds <<'END'
holds     control takes < 3us p99
holds     control takes < 3us p50
violated  control takes < 3us total unless undecided
violated  control takes > 3us p99.9
holds     control runs == 300 times
holds     control runs every 10us ±1%
holds     unlock follows lock
holds     panic never runs
END

# ---- threads, by context ids: 7 stops inside lock, and 8 runs meanwhile ----

path threads <<'END'
context 7
at 1000
run 10000 1
run 10040 1
context 8
at 2000
run 1000c 1
run 10140 2
at 5000
run 10080 3
at 6000
context 7
run 10044 1
at 7000
run 10080 3
at 8000
run 10048 2
at 9000
run 10004 1
run 100c0 2
at 10000
run 10008 1
END
record threads threads --times 1
expect --elf program.elf --clock 1000000000 threads <<'END'
holds     control takes < 5us
holds     control takes < 9us wall
violated  control takes < 6us wall
holds     tail only in thread 8
violated  control only in thread 8
holds     control runs == 1 times for thread 7
holds     control runs == 0 times for thread 8 unless undecided
undecided helper takes < 1001ns for each thread
violated  helper takes < 900ns for thread 7
holds     thread 8 share < 60%
violated  thread 8 share < 10%
undecided thread 9 share < 10%
violated  control runs for each thread
END

# ---- SWO: handlers, text, watchpoints ----

cat >swo.txt <<'END'
exception 15 entered
at 1000
exception 15 exited
at 1300
exception 0 returned
at 1310
text 0 "hello there"
write 0 1 10
at 2000
exception 15 entered
at 2010
exception 20 entered
at 2100
exception 20 exited
at 2200
exception 15 returned
at 2210
exception 15 exited
at 2500
exception 0 returned
at 2510
data 0 address=0x20000010 value=7 written size=4
at 3000
text 0 "ASSERT failed"
write 0 1 10
at 3100
exception 15 entered
at 3200
exception 15 exited
at 3300
exception 0 returned
at 3310
sample 0x10200
at 4000
END
"$pugmark" record --quiet --protocol dwt --script swo.txt --out swo || fail "record --script: exit $?"
expect swo <<'END'
violated  exception SysTick never
holds     exception NMI never
violated  no exception but SysTick
holds     no exception but SysTick, IRQ4
holds     SysTick takes < 500 cycles
violated  SysTick takes < 490 cycles
holds     SysTick takes <= 390 cycles without interrupts
violated  SysTick takes < 390 cycles without interrupts
undecided SysTick takes < 100 cycles own
undecided SysTick takes < 1us
holds     SysTick runs == 3 times
holds     IRQ4 takes <= 100 cycles
undecided main takes < 5 cycles
undecided SysTick instructions < 100
holds     itm port 0 matches "hello"
holds     itm port 0 matches "hello*there"
violated  itm port 0 never matches "ASSERT"
holds     itm port 1 never matches "x"
violated  itm port 0 matches "absent"
violated  watch 0x20000010 never
holds     watch 0x20000010 stays < 8
violated  watch 0x20000010 stays == 6
undecided watch 0x20000020 stays < 8
undecided depth of main <= 3
undecided lines of x.c >= 3%
undecided thread main share < 50%
holds     SysTick within 10 cycles after itm port 0 "hello"
violated  SysTick within 9 cycles after itm port 0 "hello"
holds     SysTick within 100 cycles after itm port 0 "ASSERT"
violated  IRQ4 within 100 cycles after exception SysTick unless undecided
holds     no loss
END
expect --elf program.elf --clock 1000000 swo <<'END'
holds     SysTick takes < 500us
violated  SysTick takes < 490us
violated  panic never runs
undecided helper never runs
holds     SysTick runs every 1100us ±10%
END
sed 's/^at 2100$/overflow\n&/' swo.txt >overflow.txt
"$pugmark" record --quiet --protocol dwt --script overflow.txt --out overflow || fail "record --script: exit $?"
expect overflow <<'END'
violated  no loss
undecided exception NMI never
undecided itm port 0 never matches "no such"
violated  itm port 0 never matches "ASSERT"
undecided itm port 0 matches "absent"
END

# ---- software trace of an STM: channels are ports ----

printf 'channel 3\nat 1000\ntext "boot ok" timed\nwrite 8 10\ntext "ASSERT x" timed\nwrite 8 10\n' >stm.txt
"$pugmark" record --quiet --protocol stm --script stm.txt --out stm || fail "record --script: exit $?"
expect stm <<'END'
holds     itm port 3 matches "boot ok"
violated  itm port 3 never matches "ASSERT"
holds     itm port 4 never matches "ASSERT"
holds     no loss
undecided main never runs
END

# ---- coverage: of 18 instructions that run in 10 functions, adc, isr and panic have none ----

expect --elf program.elf exact <<'END'
holds     lines of program.s covered >= 70%
violated  lines of program.s covered >= 99%
holds     functions of program.s >= 70%
violated  functions of *.s >= 90%
END
expect --elf program.elf lossy <<'END'
undecided functions of program.s >= 90%
END

# ---- wrong rules: said with file, line, column and a mark, before anything is decoded ----

# wrong COLUMN PATTERN RULE
wrong() {
  local code=0
  printf '# a comment\n%s\n' "$3" >wrong.rules
  "$pugmark" check wrong.rules --elf program.elf exact >out 2>said || code=$?
  [[ $code == 2 && ! -s out ]] || fail "'$3': exit $code"
  grep -qE "^wrong.rules:2:$1: .*$2" said || fail "'$3': $(head -n 1 said)"
  [[ $(sed -n 2p said) == "  $3" && $(sed -n 3p said) =~ ^\ \ \ *\^+$ ]] || fail "'$3': no mark: $(cat said)"
}
wrong 1 "no function 'controll'; did you mean 'control'" 'controll takes < 3us'
wrong 9 "did you mean 'takes'" 'control taks < 3us'
wrong 15 "<, <=, >, >= or ==" 'control takes 3us'
wrong 17 "'usx' is no unit; units are ns, us," 'control takes < 3usx'
wrong 15 'did you mean ==' 'control takes = 3us'
wrong 14 'the rule ends here' 'control takes'
wrong 26 "expected here: the end of the rule" 'control takes < 3us  p50 longest'
wrong 4 "did you mean 'exception'" 'no excption'
wrong 1 'no function' 'nothere* takes < 1us'
wrong 1 'no function' '0x99999999 never runs'
wrong 11 'is no exception' 'exception Nonesuch never'
wrong 10 'stimulus ports are 0 to 255' 'itm port 256 never matches "x"'
wrong 26 'closing' 'itm port 1 never matches "x'
wrong 10 'no source file of the program matches' 'lines of nosuch/*.c >= 3%'
wrong 17 'whole nanoseconds' 'control takes < 0.5ns'
wrong 20 'a period is a time' 'control runs every 100 cycles ±3'
wrong 30 "'thread' or 'core'" 'control takes < 3us for each corn'
wrong 9 'no scope' 'no loss for each thread'

# ---- what is printed ----

code() { "$pugmark" check "$@" >out 2>said; echo $?; }
exactly=(--elf program.elf --clock 1000000000 exact)
[[ $(code --rule "panic never runs" "${exactly[@]}") == 0 ]] || fail "exit code where all hold"
[[ $(code --rule "lock never runs" "${exactly[@]}") == 1 ]] || fail "exit code of a violation"
grep -q '^VIOLATED .*--rule:1: lock never runs' out && grep -q 'lock at .*program.s:[0-9]*, at 4.001 us, .*trace offset' out &&
  grep -q "look: pugmark trace --around [0-9]* 'exact'" out || fail "text: $(cat out)"
[[ $(code rules nosuch) == 2 && $(code nosuch exact) == 2 && $(code --format xml exact) == 2 && $(code --rule x exact) == 2 ]] ||
  fail "exit codes of wrong use"
[[ $(code exact --elf program.elf) == 0 ]] || fail "usual rules: $(cat out said)"
printf 'ok: panic never runs\nbad: lock never runs # <&>\n"open": control takes < 3 cycles\n' >three
code --format junit three "${exactly[@]}" >/dev/null
grep -q '<testsuite name="pugmark check" tests="3" failures="1" errors="1" skipped="0">' out &&
  grep -q '<testcase classname="three" name="bad" file="three" line="2">' out && grep -q '<failure message="it ran: lock' out || fail "junit: $(cat out)"
if command -v python3 >/dev/null; then
  python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("out")' || fail "junit: no XML"
fi
code --format tap three "${exactly[@]}" >/dev/null
grep -qx 'TAP version 13' out && grep -qx '1..3' out && grep -qx 'ok 1 - ok' out && grep -qx 'not ok 2 - bad' out || fail "tap: $(cat out)"
code --format tap --allow-undecided three "${exactly[@]}" >/dev/null
grep -q '^ok 3 - open # SKIP undecided: ' out || fail "tap: $(cat out)"
code --format github three "${exactly[@]}" >/dev/null
grep -q '^::error file=three,line=2,title=violated%3A bad::it ran' out && grep -q '^::warning file=three,line=3' out || fail "github: $(cat out)"
code --format json --output saved three "${exactly[@]}" >/dev/null
[[ ! -s out ]] && grep -q '"rules": 3' saved || fail "--output"

[[ $(code --rule "lock never runs" exact) == 2 ]] && grep -q 'give it with --elf FILE' said || fail "no program: $(cat said)"
printf 'no loss \\\n  unless undecided\n\n# nothing\n' >joined
[[ $(code joined exact) == 0 && $(grep -c '^holds' out) == 1 ]] || fail "joined lines: $(cat out said)"

# ---- all inputs together, a baseline, and a start ----

[[ $(code --rule "control runs == 302 times" --elf program.elf exact rounds) == 0 ]] || fail "two inputs: $(cat out)"
perl -e 'for (0 .. 9) { my $t = 20000 * $_;
  printf "at %d\nrun 10000 1\nrun 10040 2\nat %d\nrun 10080 3\nat %d\nrun 10048 2\nat %d\nrun 10004 1\n", map { $t + $_ } 1000, 2000, 9000, 10000 }' |
  path slower
record slower slower --times 1
[[ $(code --baseline rounds --elf program.elf rounds) == 0 ]] || fail "baseline: $(cat out said)"
[[ $(code --baseline rounds --elf program.elf slower) == 1 ]] && grep -q '^SLOWER .*control: a call took' out || fail "baseline: $(cat out said)"
[[ $(code --baseline rounds --tolerance 2000 --elf program.elf slower) == 0 ]] || fail "--tolerance: $(cat out said)"
"$pugmark" check --init --elf program.elf --clock 1000000000 rounds >start || fail "--init: exit $?"
grep -q '^control takes < 3600ns ' start && [[ $(code start --elf program.elf --clock 1000000000 rounds) == 0 ]] || fail "--init: $(cat start out said)"

# ---- a live input stops at the first violation ----

live() { (cat rounds/trace.bin; sleep 3) | timeout 20 "$pugmark" check "$@" --protocol etmv4i --transport coresight --core Cortex-A53 $(live_settings) --elf program.elf - >out 2>said; echo $?; }
live_settings() { sed -nE 's/^(TRCCONFIGR|TRCTRACEIDR|TRCIDR[0-9]+)\(.*\)=(0x[0-9a-fA-F]+)$/--set \1=\2/p' rounds/trace_0.ini | paste -sd' '; }
[[ $(live --rule "lock never runs" --rule "control never runs") == 1 && $(grep -c '^VIOLATED' out) == 1 ]] || fail "live: $(cat out said)"
[[ $(live --keep-going --rule "lock never runs" --rule "control never runs") == 1 && $(grep -c '^VIOLATED' out) == 2 ]] ||
  fail "live --keep-going: $(cat out said)"

[[ $rules_checked -ge 120 ]] || fail "only $rules_checked rules were checked"
exit $bad
