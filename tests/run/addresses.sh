#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Addresses as people write them: a number, FUNCTION, FUNCTION+0x10, FILE:LINE, wherever an option takes one.
#   addresses.sh BIN SOURCE
set -eu
pugmark=$1/pugmark source=$2 bad=0
crash=$source/examples/crash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong() { echo "$*"; bad=1; }
"$pugmark" --version | head -n 1 | grep -q '[( ]elf ' || { echo "skipped: built without ELF files"; exit 77; }
start=$(readelf -s "$crash/crash" | awk '$8 == "on_fault" { print "0x" $2 }')
inside=$(printf '0x%x' $((start + 8)))

# trace --before: the same as by the number.
before() { "$pugmark" trace --quiet --last 4 --before "$1" "$crash" 2>&1; }
[[ $(before "$start") == *"on_fault+0x0"* ]] || wrong "--before a number: $(before "$start")"
for words in on_fault on_fault+0 on_fault+0x0; do
  [[ $(before "$words") == "$(before "$start")" ]] || wrong "--before $words: not the same as $start"
done
[[ $(before on_fault+8) == "$(before "$inside")" ]] || wrong "--before on_fault+8: not the same as $inside"
if "$pugmark" --version | head -n 1 | grep -q dwarf; then
  for words in crash.c:100 /crash.c:100; do
    [[ $(before "$words") == "$(before "$start")" ]] || wrong "--before $words: not the same as $start"
  done
  [[ $(before crash.c:9999) == *"--before crash.c:9999: no code of that line"* ]] || wrong "a line that is none: $(before crash.c:9999)"
fi
[[ $(before on_falt) == *"there is no function 'on_falt' in the programs at hand; is on_fault meant?" ]] || wrong "no near function: $(before on_falt)"
[[ $(before nothing_like_it) == *"write a number, FUNCTION+0x10 or FILE:LINE"* ]] || wrong "no next step: $(before nothing_like_it)"
code=0
"$pugmark" trace --last 4 --before on_falt "$crash" >/dev/null 2>&1 || code=$?
[[ $code == 2 ]] || wrong "an unknown function: exit $code"

# find --address: the same answer as of the number that a packet has.
entry=$(readelf -s "$crash/crash" | awk '$8 == "_start" { print "0x" $2 }')
[[ $("$pugmark" find --address _start "$crash" 2>&1) == "$("$pugmark" find --address "$entry" "$crash" 2>&1)" ]] || wrong "find --address _start"
[[ $("$pugmark" find --address _start+0 "$crash") == *"0x"* ]] || wrong "find --address: nothing"
"$pugmark" find --address nothing_like_it "$crash" >/dev/null 2>"$work/said" && wrong "find: an unknown function was found"
grep -q "there is no function 'nothing_like_it'" "$work/said" || wrong "find: $(<"$work/said")"

# --until of a live input: standard input is one.
until_() { "$pugmark" pc --quiet --until "$1" --protocol etmv4 --transport coresight --core Cortex-A53 --set TRCTRACEIDR=0x10 --elf "$crash/crash" - <"$crash/trace.bin" 2>&1; }
[[ $(until_ on_fault) == "$(until_ "$start")" && $(until_ on_fault | wc -l) -gt 5 ]] || wrong "--until on_fault: not the same as $start"
[[ $(until_ on_falt) == *"--until on_falt: there is no function"* ]] || wrong "--until: $(until_ on_falt | tail -1)"

# What record traces: from a place to the end of its function, or between two places.
if command -v qemu-aarch64 >/dev/null && qemu-aarch64 -help 2>/dev/null | grep -q -- -plugin; then
  filtered() {
    "$pugmark" record --quiet --protocol etmv4 --force --out "$work/part" --filter "$1" "$crash/crash" 2>"$work/said" || { wrong "record --filter $1: $(<"$work/said")"; return; }
    "$pugmark" pc --quiet --elf "$crash/crash" "$work/part" | sort -u | sed 's/.*0x//; s/ .*//' | tr '\n' ' '
  }
  all=$(filtered find) rest=$(filtered find+8) line=$(filtered crash.c:35) between=$(filtered find-find+0x20)
  [[ $all && $rest && $line && $between && $all != "$rest" && $all != "$between" ]] || wrong "record --filter: $all; $rest; $line; $between"
fi

# Programs that lie elsewhere in each process: by name, in each.
paw=$source/../shared/perfdata/paw
if [[ -f $paw/exec.data ]]; then
  said=$("$pugmark" trace --quiet --last 2 --before fib --symfs "$paw/root" "$paw/exec.data" 2>&1 )
  [[ $said == *" fib+0x0 "* ]] || wrong "perf.data: --before fib: $said"
  # "_start" is at 0x400198 of paw-static, which no packet tells, and at 0x400150 of other-static.
  said=$("$pugmark" find --address _start --symfs "$paw/root" "$paw/exec.data" 2>&1 || true)
  [[ $said == *" 0x400150" ]] || wrong "perf.data: find --address _start: $said"
  said=$("$pugmark" find --address _start+0x18 --symfs "$paw/root" "$paw/exec.data" 2>&1 || true)
  [[ $said == *" 0x4001b0" ]] || wrong "perf.data: find --address _start+0x18: $said"
  said=$("$pugmark" find --address fib --symfs "$paw/root" "$paw/exec.data" 2>&1 || true)
  [[ $said == *"pugmark trace --last 50 --before fib "* ]] || wrong "perf.data: find --address fib: $said"
fi
exit $bad
