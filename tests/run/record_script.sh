#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Scripts of events: what `pugmark record --script` makes trace of is what decoders give back, whatever choices
# an encoder makes.
set -eu
bin=$1
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"

# same WHAT: `got` is `wanted`
same() { diff wanted got >differ || { echo "$1:"; head -20 differ; exit 1; }; }
record() { "$bin/pugmark" record --protocol "$1" --script script --out out "${@:2}"; }
elements() { "$bin/pugmark" list out | sed -E 's/^ *[0-9]+ *//; s/^[0-9a-f]+ *//'; }

cat >script <<'LINES'
master 0x41 # who
channel 3
at 1000
write 8 0x5a timed
write 64 0x1122334455667788 marked
channel 0x1ff
at 5000
write 4 7 marked timed
text "Hi #1" timed
flag
trigger 9 timed
master 2
at 0x100000000
write 16 0xbeef timed
write 32 0xdeadbeef
LINES
# Who, what, when: whatever packets it took to say who.
written() {
  "$bin/pugmark" list --packets out | sed -E 's/ ~\[.*//' |
    awk '/ M8:/ { sub(/.*=/, ""); master = $0; channel = "0x0000"; next }
         / C(8|16):/ { sub(/.*=/, ""); channel = $0; next }
         / (D[0-9]+|FLAG|TRIG)[MTS]*:/ { sub(/.*\] [A-Z0-9]*:/, ""); print master, channel, $0 }'
}
cat >wanted <<'LINES'
0x41 0x0003 8 bit data + timestamp; Data=0x5a; TS=0x00000000000003E8
0x41 0x0003 64 bit data + marker; Data=0x1122334455667788
0x41 0x01ff 4 bit data + marker + timestamp; Data=0x7; TS=0x0000000000001388
0x41 0x01ff 8 bit data + timestamp; Data=0x48; TS=0x0000000000001388
0x41 0x01ff 8 bit data; Data=0x69
0x41 0x01ff 8 bit data; Data=0x20
0x41 0x01ff 8 bit data; Data=0x23
0x41 0x01ff 8 bit data + marker; Data=0x31
0x41 0x01ff Flag packet
0x41 0x01ff Flag packet
0x41 0x01ff Trigger packet + timestamp; TrigData=0x09; TS=0x0000000000001388
0x02 0x01ff 16 bit data + timestamp; Data=0xbeef; TS=0x0000000100000000
0x02 0x01ff 32 bit data; Data=0xdeadbeef
LINES
record stm
written >got
same STM
for seed in 1 2 3 4; do
  record stm --random $seed --sync 3 --id 0x33
  written >got
  same "STM, seed $seed"
done

cat >script <<'LINES'
write 0 1 0x41
text 3 "hello, world"
at 100
write 200 4 0xdeadbeef
exception 15 entered
at 160
sample 0x8000124
sample sleeping
data 1 pc=0x8000200 address=0x20000010 value=7 written size=1
at 0x20000000
data 2 address=0x1234
data 0 value=0x55 read
counters 0x21
exception 15 exited
exception 0 returned
match 3
time 0x123456789ab
overflow
at 0x20000010
LINES
record dwt
hardware() { elements | sed -n 's/^ITMTRACE(\(.*\))$/\1/p' | grep -v '^ITM_'; }
hardware >got
cat >wanted <<'LINES'
exception 15 SysTick entered
PC sample 0x08000124
PC sample: sleeping
data write 0x20000010 = 7 by 0x08000200 (comparator 1)
data read comparator 0 = 0x55
data access 0x1234 (comparator 2)
event counters wrapped: CPI CYC
exception 15 SysTick exited
exception 0 thread mode returned to
comparator 3 matched
LINES
same DWT
elements | grep -q 'ITM_SWIT (ch: 0xc8; Data: 0xdeadbeef)'
elements | grep -q 'ITM_TS_GLOBAL ( TS: 0x00000123456789ab)'
elements | grep -q 'ITM_OVERFLOW; .* cumulative: 0x0000000020000010)'
cp got dwt
"$bin/pugmark" itm --port 3 out >text
grep -q 'hello, world' text
for seed in 1 2 3 4; do
  record itm --random $seed --sync 4
  hardware >got
  cp dwt wanted
  same "DWT, seed $seed"
  "$bin/pugmark" itm --port 3 out >got
  cp text wanted
  same "ITM, seed $seed"
done

cat >script <<'LINES'
ctm 1 64 16 0x8000000010 0x8000002000 0x1b
stm 4 64 17 4 0x48
overflow 1 3
ctm 1 64 32 0x8000003000 0x8000001004 0x07
stm 5 16 33 4 0x49
stm 4 64 34 5 0x1122334455667788
register 1 0x200 64
LINES
record osd
elements | grep -v EO_TRACE | sort >wanted
[[ $(grep -c SWTRACE wanted) == 3 && $(grep -c I_RANGE_NOPATH wanted) == 2 ]] || { cat wanted; exit 1; }
for seed in 1 2 3; do
  record osd --random $seed
  elements | grep -v EO_TRACE | sort >got
  same "Open SoC Debug, seed $seed"
done

refuses() { # protocol, line
  echo "$2" >script
  if record "$1" 2>said; then echo "taken: $2"; exit 1; fi
  grep -q 'line 1' said || { cat said; exit 1; }
}
refuses stm 'write 8 0x100'
refuses stm 'channel 65536'
refuses stm 'nothing'
refuses stm 'text "open'
refuses itm 'write 256 1 1'
refuses itm 'write 1 3 1'
refuses itm 'data 0 value=1'
refuses itm 'exception 15 left'
refuses osd 'ctm 16 32 1 2 3 4'
refuses osd 'stm 1 48 1 2 3'
refuses osd 'stm 1 32 0x100000000 2 3'
refuses osd 'stm 1 32 1 2 0x100000000'
refuses osd 'ctm 1 16 1 0x10000 2 3'
refuses osd 'ctm 1 16 1 2 0x10000 3'
refuses osd 'ctm 1 16 1 2 3 32'
: >script
if record stm 2>said; then exit 1; fi
grep -q 'no event' said
if "$bin/pugmark" record --script script --out out --protocol etmv4 2>/dev/null; then exit 1; fi
