#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What an ITM and a DWT say, in every answer: times, interrupts, samples, ports, losses, guesses. Trace is written here,
# packet by packet; of PUG_PART=shared it is a public capture of real hardware.
#   swo.sh BIN SOURCE
set -eu
bin=$1 source=$2
pugmark=$bin/pugmark
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
want() { # NAME WANTED GOT
  [[ $2 == "$3" ]] || { printf '%s:\nwant %q\ngot  %q\n' "$1" "$2" "$3"; exit 1; }
}
says() { # NAME WORDS FILE
  grep -qF -- "$2" "$3" || { printf '%s: no %q in\n' "$1" "$2"; cat "$3"; exit 1; }
}
write() { perl -I"$source/tests/support" -Mswo -e "$1; swo::done()"; }
itm() { local command=$1; shift; "$pugmark" "$command" --quiet --protocol itm "$@"; }

# ---- real hardware ----
real() {
  local folder=$source/../shared/swo/ctrace
  [[ -d $folder ]] || { echo "no $folder"; exit 77; }
  local framed=(--transport coresight "$folder/Blinky+Arm.TB.raw")
  # Two cores in frames, a ring: neither has a synchronisation point before its last bytes.
  itm pc --samples "${framed[@]}" >samples
  want samples 250 "$(wc -l <samples)"
  for id in 1:121:165 2:129:84; do
    IFS=: read -r source_id samples exceptions <<<"$id"
    itm list --source "$source_id" "${framed[@]}" >listed
    want "samples of $source_id" "$samples" "$(grep -c 'PC sample' listed)"
    want "exceptions of $source_id" "$exceptions" "$(grep -c 'exception' listed)"
  done
  want guessed 1050 "$(itm list --format jsonl "${framed[@]}" | grep -c '"guessed": true')"
  itm info "${framed[@]}" >said
  says guess 'taken to have a packet at its byte 3: a guess' said
  says loss 'PC samples are 16384 cycles apart in 120 of 120 intervals if one is added for each timestamp, and in 0 without' said
  itm info --set timestamp_loss=1 "${framed[@]}" >said
  says 'loss added' 'PC samples are 16384 cycles apart in 128 of 128 intervals: the timestamps lack nothing' said
  itm info --clock 100000000 "${framed[@]}" >said
  says clock 'SysTick comes 1333.55 times a second, which is no usual rate' said
  itm calls --interrupts --set timestamp_loss=1 "${framed[@]}" >table
  want systick '0x02 15 SysTick 28 14 14 14 392 392 75000 75000 75000 0 0 0 0 0' "$(echo $(tail -1 table))"
  itm profile "${framed[@]}" >table
  says profile '250 PC samples, 0.0 % of them asleep: samples, not counts of what ran' table

  # Times and values of a watched variable, as another tool has them; two of its rows are of one access without a value.
  itm timeline --format chrome "$folder/Blinky+Arm.SWO.raw" 2>/dev/null |
    perl -ne 'print "$1,$2\n" if /"ph": "C".*"ts": (\d+)(?:\.\d+)?, "args": \{"value": (\d+)\}/' >times || true
  perl -F, -ane 'printf "%s,%d\n", $F[0], hex $F[4] if $F[2] eq "dwt" && $F[4]' "$folder/Blinky+Arm.SWO.csv" >wanted
  want rows 527 "$(wc -l <wanted)"
  diff wanted times >differences || { head -5 differences; exit 1; }
}
if [[ ${PUG_PART-} == shared ]]; then real; exit; fi

# ---- text, values, nested interrupts, samples, watchpoints, an overflow ----
write '
  swo::sync; swo::text(0, "hello\n"); swo::time(100);
  swo::port(4, 2, 513); swo::time(50);
  swo::enter(15); swo::time(20); swo::enter(17); swo::time(10); swo::leave(17); swo::time(30);
  swo::back(15); swo::time(2); swo::leave(15); swo::time(40); swo::back(0); swo::time(2);
  swo::sample(0x0800004a); swo::time(1000); swo::asleep; swo::time(1000); swo::sample(0x0800005e); swo::time(1000);
  swo::watch(0, 0x0800004c, 0x0010, 4, 37); swo::time(7);
  swo::dwt(0, 1, 0x21); swo::time(5); swo::dwt(0, 1, 1); swo::time(5);
  swo::enter(15); swo::time(20); swo::overflow; swo::leave(15); swo::time(40, 1); swo::back(0); swo::time(2);
  swo::enter(15); swo::time(20); swo::leave(15); swo::time(9); swo::enter(17); swo::time(5); swo::leave(17);
  swo::time(12); swo::back(0); swo::time(1);
  swo::text(3, "bye\n"); swo::time(3)' >all.swo
itm calls --interrupts all.swo >table 2>said
want handlers 'Interrupts, times in cycles
source number interrupt count shortest mean longest total own least interval mean interval most interval nesting preempted tail-chained cut inexact
0x00 15 SysTick 3 9 45 82 91 61 3121 3121 3121 0 1 0 1 0
0x00 17 IRQ1 2 12 21 30 42 42 - - - 1 0 1 0 0' "$(sed -E 's/ +/ /g' table)"
want 'handlers, JSON' '{"source": "0x00", "number": 17, "interrupt": "IRQ1", "count": 2, "shortest": 12000, "mean": 21000, "longest": 30000, "total": 42000, "own": 42000, "least interval": null, "mean interval": null, "most interval": null, "nesting": 1, "preempted": 0, "tail-chained": 1, "cut": 0, "inexact": 0, "unit": "ns"}' \
  "$(itm profile --interrupts --json --clock 1000000 all.swo | tail -1)"
want 'the same of calls' "$(itm profile --interrupts --json all.swo)" "$(itm calls --interrupts --json all.swo)"
"$pugmark" calls --interrupts --protocol itm all.swo 2>&1 >/dev/null | tee said >/dev/null
says losses 'trace was lost 1 times: handlers that ran then are in the column `cut`' said
write 'swo::sync; swo::text(0, "x\n")' >plain.swo
code=0
itm calls --interrupts plain.swo >table 2>said || code=$?
want 'no interrupts' 1 $code
says 'no interrupts' 'no exception trace in it' said
want nothing '' "$(cat table)"

# One timeline: text as one event a line, values as counters, handlers as slices, the loss as a gap, all at their times.
itm timeline --format chrome --clock 1000000 all.swo >timeline
for words in '"name": "ITM port 0", "pid": 0, "tid": 3, "ts": 100.000, "s": "t", "args": {"detail": "hello"}' \
  '"ph": "C", "name": "ITM port 4", "pid": 0, "tid": 7, "ts": 150.000, "args": {"value": 513}' \
  '"ph": "B", "name": "SysTick", "pid": 0, "tid": 11, "ts": 170.000' \
  '"ph": "B", "name": "IRQ1", "pid": 0, "tid": 11, "ts": 180.000' \
  '"ph": "E", "pid": 0, "tid": 11, "ts": 210.000' '"ph": "E", "pid": 0, "tid": 11, "ts": 252.000' \
  '"name": "asleep", "pid": 0, "tid": 15, "ts": 2254.000' \
  '"ph": "C", "name": "0x0010", "pid": 0, "tid": 15, "ts": 3261.000, "args": {"value": 37}' \
  '"detail": "0x0010 = 0x25 at 0x0800004c"' \
  '"name": "CPI cycles", "pid": 0, "tid": 15, "ts": 3271.000, "args": {"value": 512}' \
  '"ph": "X", "name": "trace was lost", "pid": 0, "tid": 11, "ts": 3291.000, "dur": 40.000' \
  '"ts": 3383.000, "s": "t", "args": {"detail": "bye"}'; do
  says timeline "$words" timeline
done
want slices "$(grep -c '"ph": "B"' timeline)" "$(grep -c '"ph": "E"' timeline)"
itm timeline --format perfetto all.swo | tr -c '[:print:]' '\n' >timeline
for words in hello bye SysTick IRQ1 'trace was lost' 'CPI cycles' asleep; do says perfetto "$words" timeline; done
itm report all.swo >page.html
bash "$source/tests/report/unpack.sh" page.html >page.data
cat page.data >>page.html
for words in '"hello"' '"SysTick"' '"trace was lost"' '"counters":[[' '"samples":2,"samples asleep":1' \
  '3 PC samples, 33.3 % of them asleep: samples, not counts of what ran'; do
  sed -E 's/": /":/g; s/, "/,"/g; s/\[ /[/g' page.html >flat
  says report "$words" flat
done
itm report plain.swo >page.html
says 'an empty report' 'nothing was counted: there is no program flow, and no PC sample, in it' page.html

# The same times everywhere.
want 'itm and times' $'[           100] port 0: hello\n[           150] port 4: adc 513\n[          3383] port 3: bye' \
  "$(itm itm -c 0,%c -c 4,'adc %d' --port 3 --prefix --timestamps all.swo)"
want 'find by name' '25 00 15' "$(echo $(itm find --exception SysTick all.swo))"
want 'find the next' '120 00 17' "$(echo $(itm find --exception irq1 --after 100 all.swo))"
want 'find a time' '23 00 150' "$(echo $(itm find --time 101 all.swo))"
want 'find a time in seconds' '23 00 150000' "$(echo $(itm find --time 0.000101 --clock 1000000 all.swo))"
want 'from a time' '-- at 3383 cycles, 3 after the last time' "$(itm trace --from-time 3381 all.swo | sed -n 2p)"
want elapsed 'hello' "$(itm itm --time 100,101 all.swo)"
itm trace --before exception --last 3 all.swo >traced
want 'before an exception' '-- exception 17 IRQ1 entered' "$(tail -1 traced)"
code=0
itm find --exception nothing all.swo 2>said || code=$?
want 'no such exception' 2 $code

# ---- samples are profiles of their own kind ----
itm profile all.swo >table
says table '3 PC samples, 33.3 % of them asleep' table
itm profile -o a.prof all.swo
itm merge -o b.prof a.prof a.prof 2>/dev/null || "$pugmark" merge --quiet -o b.prof a.prof a.prof
"$pugmark" profile --quiet b.prof >table
says merged '6 PC samples, 33.3 % of them asleep' table
"$pugmark" diff --quiet a.prof b.prof >table
says diff '2 samples before, 4 after' table
"$pugmark" profile --quiet -o exact.prof "$source/tests/captures/etmv4-a64"
for command in "merge -o c.prof" "diff" "profile"; do
  code=0
  # shellcheck disable=SC2086
  "$pugmark" $command --quiet exact.prof a.prof >/dev/null 2>said || code=$?
  want "$command of both kinds" 2 $code
  says "$command of both kinds" 'PC samples and counts of what ran are different things' said
done
itm profile --format pprof all.swo | { gzip -dc 2>/dev/null || cat; } >pprof
says pprof samples pprof
code=0
itm profile plain.swo >/dev/null 2>said || code=$?
want 'a profile of nothing' 1 $code
says 'a profile of nothing' 'nothing was counted' said

# ---- ports ----
write 'swo::sync; for (0 .. 2) { swo::text(0, "a" . $_); swo::port(5, 4, 0x3fc00000); swo::text(1, "b$_"); swo::text(0, "c\n");
  swo::port(6, 1, 0xfe); swo::text(1, "d\n"); swo::port(7, 2, 0x8000) } ' >ports.swo
want 'lines are whole' $'-2\n1.50\na0c\nb0d' "$(itm itm --port 0 --port 1 -c 5,%.2f -c 6,%d ports.swo | head -4 | LC_ALL=C sort)"
want formats $'8000|-32768|32768|0x8000%' "$(itm itm -c 7,'%04x|%i|%u|%#x%%' ports.swo | head -1)"
want several $'port 0: a0c' "$(itm itm --all --prefix ports.swo | grep -m1 'port 0')"
itm itm --all --split out ports.swo
want files $'a0c\na1c\na2c' "$(cat out.0)"
itm itm --port 7 --raw ports.swo | od -An -tx1 >raw
want raw ' 00 80 00 80 00 80' "$(cat raw)"
for options in "-c 4" "-c 4,%s" "-c 300,%d" "--raw --timestamps" "--raw --all"; do
  code=0
  # shellcheck disable=SC2086
  itm itm $options ports.swo >/dev/null 2>&1 || code=$?
  want "$options" 2 $code
done

# ---- clocks: prescaler, loss, global timestamps ----
write 'swo::sync; swo::text(0, "a\n"); swo::time(10); swo::text(0, "b\n"); swo::time(5)' >times.swo
stamps() { itm itm --timestamps "$@" | sed 's/^\[ *//; s/\].*//' | paste -sd,; }
want prescaled 160,240 "$(stamps --set ITMTCR=0x200 times.swo)"
want lacking 11,17 "$(stamps --set timestamp_loss=1 times.swo)"
want both 161,242 "$(stamps --set ITMTCR=0x200 --set timestamp_loss=1 times.swo)"
want elapsed 16 "$(itm find --elapsed 240 --set ITMTCR=0x200 times.swo | awk '{print $1}')"
write 'swo::sync; swo::global(1000000); swo::text(0, "a\n"); swo::time(100); swo::text(0, "b\n"); swo::time(200);
  swo::global(1000500); swo::text(0, "c\n"); swo::time(100)' >global.swo
want 'global times' 1000500,1000500,1000500 "$(stamps global.swo)"
want 'local times' 0.000100,0.000300,0.000400 "$(stamps --clock 1000000 global.swo)"
want 'global times in seconds' 10.005000,10.005000,10.005000 "$(stamps --global-clock 100000 global.swo)"
want 'both clocks' 10.000500,10.001500,10.005500 "$(stamps --clock 200000 --global-clock 100000 global.swo)"
itm info --clock 1000000 --global-clock 1000000 global.swo >said
says 'clocks that contradict each other' 'the core runs at 0.600 MHz, not at the 1.000 MHz of --clock' said

# ---- bad input ----
perl -e 'srand 7; print map { chr int rand 256 } 1 .. 20000' >noise.swo
"$pugmark" itm --protocol itm noise.swo >text 2>said || true
says 'a wrong rate' 'check the baud rate' said
write 'swo::sync; for (1 .. 40) { swo::text(0, "a"); swo::time(100); if ($_ % 10 == 0) { swo::raw(0x04); swo::sync } }' >noisy.swo
"$pugmark" itm --protocol itm noisy.swo >text 2>said || true
says 'noise between packets' 'bad packets between good ones: noise on the line' said
want 'noise between packets' 40 "$(wc -c <text)"

# ---- without a synchronisation point: a ring that begins in the middle of a packet ----
write 'for (1 .. 60) { swo::sample(0x08001000 + 2 * ($_ % 9)); swo::time(16383); swo::enter(15); swo::time(40); swo::leave(15);
  swo::time(80); swo::back(0); swo::time(3) }' | tail -c +4 >ring.swo
want guessed 59 "$(itm pc --samples ring.swo | wc -l)"
"$pugmark" pc --samples --protocol itm ring.swo >/dev/null 2>said
says 'a guess is reported' 'ring.swo: source 0x00 begins by a guess, with its byte 5' said
want 'not guessed' 0 "$(itm pc --samples --set guess_sync=0 ring.swo 2>/dev/null | wc -l)"
want reported 59 "$(itm pc --samples --set begin_at=2 ring.swo | wc -l)"
want 'guessed, on threads' "$(itm list --jobs 1 ring.swo | md5sum)" "$(itm list --jobs 4 ring.swo | md5sum)"

# ---- beside an ETM, in the frames of one buffer ----
cp -r "$source/tests/captures/etmv4-arm-times" both
chmod -R u+w both
write 'swo::sync; swo::global(5080000); swo::text(0, "here\n"); swo::time(10); swo::enter(15); swo::time(20); swo::global(5080100);
  swo::leave(15); swo::time(30); swo::sample(0x20400); swo::global(5080200); swo::frames(0x21)' >>both/trace.bin
cat >both/itm.ini <<'INI'
[device]
name=itm_0
class=trace_source
type=ITM
[regs]
ITMTCR=0x00210001
INI
sed -i 's/^device1=.*/&\ndevice2=itm.ini/' both/snapshot.ini
sed -i 's/^trace_0=buffer_0/&\nitm_0=buffer_0/' both/trace.ini
"$pugmark" timeline --quiet --format chrome both >timeline
says 'calls of the ETM' '"ph": "B", "name": "start", "pid": 0, "tid": 65, "ts": 5073590' timeline
says 'text in global time' '"ts": 5080100, "s": "t", "args": {"detail": "here"}' timeline
says 'a handler in global time' '"name": "SysTick", "pid": 0' timeline
says 'counts of what ran' '"instructions"' <("$pugmark" profile --quiet --json both)
"$pugmark" itm --quiet --timestamps both >text
want 'text beside an ETM' '[       5080100] here' "$(cat text)"
"$pugmark" profile both >/dev/null 2>said
says 'samples beside counts' '1 PC samples, which are not added to counts of what ran' said

# A snapshot's ring begins by a guess, too.
mkdir ring
mv ring.swo ring/trace.bin
printf '[snapshot]\nversion=1.0\n[device_list]\ndevice0=itm.ini\n[trace]\nmetadata=trace.ini\n' >ring/snapshot.ini
printf '[trace_buffers]\nbuffers=b\n[b]\nname=ETB\nfile=trace.bin\nformat=source_data\n[source_buffers]\nitm_0=ETB\n' >ring/trace.ini
cp both/itm.ini ring/itm.ini
want 'a guess in a snapshot' 59 "$("$pugmark" pc --quiet --samples ring | wc -l)"
want 'none in a snapshot' 0 "$("$pugmark" pc --quiet --samples --set itm_0:guess_sync=0 --set guess_sync=0 ring 2>/dev/null | wc -l)"

# ---- events, each with its time ----
itm list --events all.swo >listed
want events 25 "$(wc -l <listed)"
for words in '            100  00  port 0: hello' '            150  00  port 4 = 513 (0x0201)' '            180  00  IRQ1 entered' \
  '           2254  00  PC sample: sleeping' '           3261  00  0x0010 = 0x25 at 0x0800004c' '           3271  00  CPI cycles: 512' \
  '~          3331  00  trace was lost' '           3383  00  port 3: bye'; do
  says events "$words" listed
done
want 'events, JSON' '{"time": 180, "exact": true, "source": 0, "index": 30, "kind": "exception", "name": "IRQ1", "words": "IRQ1 entered"}' \
  "$(itm list --events --format jsonl --match 'IRQ1 entered' all.swo | head -1)"
want 'events, CSV' '3331,0,0,101,loss,,,,,trace was lost' "$(itm list --events --format csv --match lost all.swo | tail -1)"
want 'events of a time' 2 "$(itm list --events --time 150,171 all.swo | wc -l)"
code=0
itm list --events --match nowhere all.swo >/dev/null 2>said || code=$?
want 'no such event' 1 $code
for place in 0x0800004a 0x0800004c; do
  want "find $place" 1 "$(itm find --address $place all.swo | wc -l)"
done
want 'find a variable' 79 "$(itm find --set DWT_COMP0=0x20000010 --address 0x20000010 all.swo | awk '{print $1}')"
