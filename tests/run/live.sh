#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Trace from a stream is decoded as it comes: what was said is there before the stream ends, and in
# the end it is the same as of a file, however the bytes trickle in, for every command: what is printed,
# what is said of it, and the exit code.
#   live.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
capture=$source/tests/captures/ntrace-rv64
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
mkdir "$work/file" "$work/stream"
mkfifo "$work/stream/trace"

# Without libdw some have no answer, and other things are wrong.
names=yes
"$pugmark" --version | head -n 1 | grep -qw dwarf || names=no

# Speed is never the same, and brstack says where a dump lies for each part that it is decoded in.
settled() { sed -E '/(seconds|megabytes a second|nanoseconds an element)$/d; /PERF_RECORD_MMAP2/d' "$1"; }

# run FOLDER OPTION...: of the trace there; its exit code.
run() {
  local folder=$1
  shift
  (cd "$work/$folder" && ulimit -t 60 && exec "$pugmark" "$@" trace) >"$work/$folder.out" 2>"$work/$folder.said"
}

# same OPTION...: a FIFO of this name, and the file of this name.
same() {
  local code what
  run file "$@"
  code=$?
  cat "$work/file/trace" 2>/dev/null >"$work/stream/trace" &
  run stream "$@"
  [[ $? == "$code" ]] || { echo "${*:1:4}: another exit code than $code"; bad=1; }
  kill $! 2>/dev/null # it waits for a reader that never came
  wait $! 2>/dev/null
  for what in out said; do
    [[ ! -s $work/file.$what && ! -s $work/stream.$what ]] || cmp -s "$work/file.$what" "$work/stream.$what" && continue
    cmp -s <(settled "$work/file.$what") <(settled "$work/stream.$what") && continue
    echo "${*:1:4}: of a stream $(diff <(settled "$work/file.$what") <(settled "$work/stream.$what") | grep -a '^[<>]' | head -n 2)"
    bad=1
  done
  return $code
}

# right OPTION...: the same, and something is printed, and nothing wrong.
right() {
  same "$@" && [[ -s $work/file.out ]] && return
  [[ $names == yes ]] || return
  echo "${*:1:4}: no answer"
  bad=1
}

profiles=$("$pugmark" profile --format '?' - 2>&1 </dev/null | sed -n 's/.*the formats are //p')
coverages=$("$pugmark" coverage --format '?' - 2>&1 </dev/null | sed -n 's/.*the formats are //p' | sed 's/,//g; s/ and / /')
[[ $profiles == *autofdo* && $coverages == *lcov* ]] || { echo "which formats are there?"; bad=1; }

# all FILE OPTION...: all that can be asked of trace with program flow.
all() {
  local command
  cat "$1" >"$work/file/trace"
  shift
  for command in pc "pc --by-thread" calls "calls --summary" "calls --by-time" list "list --packets" "list --packets --elements" "list --format jsonl" "list --format csv" \
    "list --by-time" stat "stat --packets" "stat --jobs 1" info trace "trace --ranges" "trace --last 5" \
    "trace --around 100" timeline "timeline --format chrome" "timeline --format speedscope" \
    "timeline --clock instructions" "timeline --exact" report profile "profile --json" "profile --stacks" \
    "profile --output -"; do
    # shellcheck disable=SC2086  # words
    right $command "$@"
  done
  for command in pc calls list profile coverage trace; do same $command --time 0,99999999999 "$@"; done
}

# wrong WORDS OPTION...: what is wrong is said, in some way like this.
wrong() {
  local command words=$1
  shift
  for command in pc "pc --by-thread" "pc --time 0,99999999999" calls list "list --packets" stat "stat --packets" trace \
    "trace --last 5" timeline "timeline --clock time" report profile "profile --stacks" "profile --format autofdo" \
    "coverage --format lcov"; do
    # shellcheck disable=SC2086  # words
    same $command "$@"
    [[ $names == no || $command == *--packets || $command == "pc --time"* ]] || grep -q "$words" "$work/stream.said" && continue
    echo "$command: nothing like '$words'"
    bad=1
  done
  same pc --quiet "$@" && echo "wrong with $words, and 0" && bad=1
}

if [[ ${PUG_PART-} == shared ]]; then
  data=$source/../shared/perfdata/paw
  [[ -e $data/pipe.data ]] || { echo "no $data: skipped"; exit 77; }
  all "$data/pipe.data" --symfs "$data/root"
  for command in $profiles; do same profile --format "$command" --symfs "$data/root"; done
  for command in $coverages; do right coverage --format "$command" --symfs "$data/root"; done
  # A page has its data packed, with the file's name in it.
  unpacked() {
    perl -MMIME::Base64 -MIO::Uncompress::Gunzip=gunzip -0777 -pe \
      's|H4sI[\w+/=]+|my $packed = decode_base64($&); gunzip(\$packed => \my $text) ? $text : $&|ge' | sed 's|[^"<> ]*pipe.data|-|g'
  }
  for command in report profile list; do # these begin on standard input, where more is read ahead
    "$pugmark" $command --quiet --symfs "$data/root" "$data/pipe.data" | unpacked >"$work/file.out"
    timeout 60 "$pugmark" $command --quiet --symfs "$data/root" - <"$data/pipe.data" >"$work/stream.packed" || bad=1
    unpacked <"$work/stream.packed" >"$work/stream.out"
    cmp -s "$work/file.out" "$work/stream.out" && continue
    echo "$command: not the same from standard input"
    bad=1
  done
  exit $bad
fi

# Waits for a file to have something in it; false after ten seconds.
comes() {
  for _ in {1..200}; do [[ -s $1 ]] && return; sleep 0.05; done
  return 1
}

printf '\0\0\0\0\0\x80\x01H\x01i\x01\n' >"$work/swo"
{ cat "$work/swo"; comes "$work/text" || touch "$work/late"; printf '\x01!\x01\n'; } |
  timeout 60 "$pugmark" itm --protocol itm - >"$work/text" || { echo "itm: failed"; bad=1; }
[[ ! -e $work/late ]] || { echo "itm: nothing before the stream ended"; bad=1; }
[[ $(cat "$work/text") == $'Hi\n!' ]] || { echo "itm: another text"; bad=1; }

options=(--protocol ntrace --set src_id=2 --image "$capture/memory_0.bin@0x11200")
while IFS== read -r name value; do
  case $name in src_bits | implicit_return | sequential_jump | extend_addr_msb | ts | xlen) options+=(--set "$name=$value") ;; esac
done < <(tr -d '\r' <"$capture/trace_0.ini")
size=$(stat -c %s "$capture/trace.bin")
for command in pc "pc --by-thread" list profile "list --packets"; do
  # shellcheck disable=SC2086  # words
  "$pugmark" $command --quiet "${options[@]}" "$capture/trace.bin" >"$work/file.out" || { echo "$command: failed"; bad=1; }
  [[ -s $work/file.out ]] || { echo "$command: nothing"; bad=1; }
  # shellcheck disable=SC2086
  { for ((at = 0; at < size; at += 997)); do tail -c +$((at + 1)) "$capture/trace.bin" | head -c 997; done; } |
    timeout 60 "$pugmark" $command --quiet "${options[@]}" - >"$work/stream.out" || { echo "$command: failed on a stream"; bad=1; }
  cmp -s "$work/file.out" "$work/stream.out" || { echo "$command: not the same from a stream"; bad=1; }
done
all "$capture/trace.bin" "${options[@]}"
right list --around 8000 "${options[@]}"
right list --around 8000 --count 3 "${options[@]}"

# A program with lines, and trace in frames.
crash=$source/examples/crash
registers=(--protocol etmv4i --transport coresight)
while read -r name value; do registers+=(--set "$name=$value"); done \
  < <(tr -d '\r' <"$crash/trace_0.ini" | sed -nE 's/^(TRCCONFIGR|TRCTRACEIDR|TRCIDR[0128])\(.*\)=(.*)/\1 \2/p')
all "$crash/trace.bin" "${registers[@]}" --elf "$crash/crash"
for command in $profiles; do right profile --format "$command" "${registers[@]}" --elf "$crash/crash"; done
for command in $coverages; do right coverage --format "$command" "${registers[@]}" --elf "$crash/crash"; done
right list --around 100 "${registers[@]}" --elf "$crash/crash"
right list --around 100 --radius 20 --packets "${registers[@]}" --elf "$crash/crash"
wrong "execution came 5 times to addresses that no file or dump has" "${registers[@]}"
wrong "the program does not match the trace" "${registers[@]}" --elf "$crash/crash.mended"
wrong "there are no bytes for source 0x22; ids in this trace: 0x10 (210 bytes)" --set TRCTRACEIDR=0x22 "${registers[@]}" --elf "$crash/crash"
head -c 3000 "$crash/crash" >"$work/file/trace"
wrong "no place in them where ETMV4I could begin" "${registers[@]}" --elf "$crash/crash"
: >"$work/file/trace"
wrong "the trace is empty" "${registers[@]}" --elf "$crash/crash"

# A program that is none.
for command in pc list calls stat trace timeline report profile "profile --stacks" "coverage --format lcov"; do
  # shellcheck disable=SC2086  # words
  same $command "${registers[@]}" --elf "$source/README.md"
  [[ $? == 3 ]] || { echo "$command: of a program that is none not 3"; bad=1; }
done

# Of more than stays of a stream all that its reader had is known.
perl -0777 -pe '$_ x= 20000' "$crash/trace.bin" >"$work/file/trace"
for command in pc calls profile trace; do same $command "${registers[@]}"; done
grep -q "execution came 87,[0-9]* times" "$work/stream.said" || { echo "trace: nothing is missing in a long stream"; bad=1; }
timeout 60 "$pugmark" pc --set TRCTRACEIDR=0x22 "${registers[@]}" - <"$work/file/trace" 2>"$work/said" && echo "another id: 0" && bad=1
grep -q "ids in this trace: 0x10 (at least 3,[0-9,]* bytes)" "$work/said" || { echo "another id: not what the beginning has"; bad=1; }
{ head -c $((size / 2)) "$capture/trace.bin"; comes "$work/pc" || touch "$work/late"; tail -c +$((size / 2 + 1)) "$capture/trace.bin"; } |
  timeout 60 "$pugmark" pc --quiet "${options[@]}" - >"$work/pc"
[[ ! -e $work/late ]] || { echo "pc: nothing before the stream ended"; bad=1; }
"$pugmark" pc --quiet "${options[@]}" "$capture/trace.bin" | cmp -s - "$work/pc" || { echo "pc: not the same from a slow stream"; bad=1; }

# Commands that need the whole trace read it: sources without a name, sizes.
timeout 60 "$pugmark" info "${options[@]}" - <"$capture/trace.bin" | grep -q "trace: -, $size bytes" || { echo "info: another size"; bad=1; }

# Memory does not grow with the stream: 1 GiB of it through 200 MiB of address space.
most=$((200 * 1024)) long=1024
grep -aqE '__[at]san_init' "$1/pugmark" && most=unlimited # sanitizers take all memory there is
[[ $(head -c 2 "$1/pugmark") != "#!" ]] || most=unlimited long=16 # and so do emulators, which are slow, too
{ cat "$work/swo"; dd if=/dev/zero bs=1M count=$long 2>/dev/null; printf '\x80'; } |
  (ulimit -v $most; timeout 120 "$pugmark" itm --quiet --protocol itm -) >"$work/text" || { echo "a long stream: failed"; bad=1; }
[[ $(cat "$work/text") == Hi ]] || { echo "a long stream: another text"; bad=1; }
exit $bad
