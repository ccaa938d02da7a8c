#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perf.data files whose truth is known: which stretches must be found in each, and the path that ran.
#   perfdata.sh BIN SOURCE
set -u
pugmark=$1/pugmark data=$2/../shared/perfdata bad=0
[[ -d $data/paw ]] || { echo "no $data: skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "BUFFER OFFSET SIZE FLAGS" lines, sorted, of what should be and of what is said to be.
wanted() {
  perl -MJSON::PP -0777 -ne 'for (@{decode_json($_)->{pieces}}) {
    my $key = $_->{cpu} < 0 ? "thread$_->{tid}" : "cpu$_->{cpu}";
    print "$key $_->{offset} $_->{size} $_->{flags}\n" }' "$1" | sort
}
found() {
  perl -ne 'BEGIN { %flags = (lost => 1, snapshot => 2, gaps => 4, collision => 8, raw => 256) }
    next unless /^  (\S+) offset (\d+) size (\d+) time \d+(.*)/;
    my ($key, $at, $size, $rest, $sum) = ($1, $2, $3, $4, 0);
    $sum += $flags{$_} for $rest =~ /(\w+)/g;
    print "$key $at $size $sum\n"' | sort
}
files=0
for json in "$data"/paw/expected/*.json; do
  name=$(basename "$json" .json)
  [[ -e $data/paw/$name.data ]] || continue
  files=$((files + 1))
  if [[ $name == zstd* ]] && ! "$pugmark" --version | head -n 1 | grep -qw zstd; then # it says what it cannot open
    "$pugmark" info "$data/paw/$name.data" 2>&1 | grep -q 'offset [0-9]*, record of type 8[13]: .*without zstd' ||
      { echo "$name: opened without zstd"; bad=1; }
    continue
  fi
  "$pugmark" info --stretches --buildid-dir "" "$data/paw/$name.data" 2>"$work/said" | found >"$work/found"
  wanted "$json" >"$work/wanted"
  cmp -s "$work/wanted" "$work/found" || { echo "$name: other stretches"; diff "$work/wanted" "$work/found"; bad=1; }
  for jobs in 1 2 8; do
    "$pugmark" pc --by-thread --quiet --jobs $jobs --symfs "$data/paw/root" "$data/paw/$name.data" >"$work/pc.$jobs" ||
      { echo "$name: something is wrong with it"; bad=1; }
  done
  cmp -s "$work/pc.1" "$work/pc.2" && cmp -s "$work/pc.1" "$work/pc.8" ||
    { echo "$name: other program counters on several threads"; bad=1; }
  for path in "$data/paw/expected/$name.path.xz" "$data/paw/expected/$name-2.path.xz"; do
    [[ -e $path ]] && xz -dc "$path"
  done >"$work/path"
  # each thread's path: the order of threads in the file is not that of their numbers
  sort -s -n -k1,1 "$work/path" | sed 's/ 0x/ /' >"$work/by_thread"
  cmp -s "$work/by_thread" "$work/pc.1" || { echo "$name: another path"; bad=1; }
done
[[ $files -ge 10 ]] || { echo "only $files files"; bad=1; }

# The same from a pipe, and through standard input.
"$pugmark" pc --by-thread --quiet --symfs "$data/paw/root" "$data/paw/pipe.data" >"$work/file"
"$pugmark" pc --by-thread --quiet --symfs "$data/paw/root" - <"$data/paw/pipe.data" >"$work/stream"
cmp -s "$work/file" "$work/stream" || { echo "standard input: another path"; bad=1; }

# Branch lists of simpleperf: the rows of what ran in its test program give the same profile as trace.
rows=(1000:1:EEE '108c:1:E(EE)*100NEE' 10a4:1:E)
perl "$2/tests/support/branch_list.pl" /data/local/tmp/etm_test_loop 0c9a20bf9c009d0e4e8bbf9fad0300ae "${rows[@]}" >"$work/rows.data"
"$pugmark" profile --quiet --format autofdo --like simpleperf --symdir "$data/simpleperf" "$work/rows.data" |
  cmp -s - "$data/simpleperf/expected.autofdo" || { echo "branch lists: another profile"; bad=1; }
# without the program nothing can be counted, and that is reported
"$pugmark" profile --format folded --symfs "$work" --buildid-dir "" "$work/rows.data" 2>&1 | grep -q 'program memory was not there' ||
  { echo "branch lists without their program: not said"; bad=1; }

# What is looked at once more for what is wrong with it ends anywhere: no warning of the trace's.
if [[ -x $1/perf_repeat ]]; then
  "$1/perf_repeat" "$data/paw/thread-v1.data" "$work/long.data" 900
  for option in "" "--tid 600"; do
    # shellcheck disable=SC2086
    "$pugmark" stat --symfs "$data/paw/root" $option "$work/long.data" 2>&1 | grep -qE '^ +0  warnings$' ||
      { echo "stat $option: a warning of its own second look"; bad=1; }
  done
  for jobs in 1 2 8; do
    "$pugmark" stat --quiet --jobs $jobs --symfs "$data/paw/root" "$work/long.data" | grep -v second >"$work/stat.$jobs"
  done
  cmp -s "$work/stat.1" "$work/stat.2" && cmp -s "$work/stat.1" "$work/stat.8" ||
    { echo "stat: other counts on several threads"; bad=1; }
fi

# Two threads run the same in both; in one they move between processors that have buffers of their own.
for name in cpu-shared ete-raw; do
  "$pugmark" profile --quiet --format folded --symfs "$data/paw/root" "$data/paw/$name.data" | sort >"$work/$name.folded"
  "$pugmark" calls --quiet --summary --symfs "$data/paw/root" "$data/paw/$name.data" | awk '{ print $1, $3, $6, $7 }' | sort >"$work/$name.calls"
  grep -c _start "$work/$name.calls" | grep -qx 2 || { echo "$name: not two threads"; bad=1; }
done
cmp "$work/cpu-shared.folded" "$work/ete-raw.folded" && cmp "$work/cpu-shared.calls" "$work/ete-raw.calls" || { echo "ete-raw: other calls"; bad=1; }

# Selections.
"$pugmark" pc --by-thread --quiet --symfs "$data/paw/root" --tid 710 "$data/paw/cpu-shared.data" >"$work/one"
"$pugmark" pc --by-thread --quiet --symfs "$data/paw/root" "$data/paw/cpu-shared.data" | grep '^710 ' | cmp -s - "$work/one" ||
  { echo "--tid: another path"; bad=1; }
"$pugmark" pc --by-thread --quiet --symfs "$data/paw/root" --comm paw --dso libpaw.so "$data/paw/cpu-shared.data" >"$work/one"
[[ -s $work/one ]] && ! grep -qv '^710 55028' "$work/one" || { echo "--comm --dso: other code"; bad=1; }
# every command selects alike: as many ranges in each order, some of the packets, calls of all stretches
lists() { "$pugmark" list --quiet --symfs "$data/paw/root" "$@" "$data/paw/cpu-shared.data"; }
all=$(lists --packets | grep -vc '^#')
# whether ranges are counted or, as here where options select, looked at one by one
for option in "" "--tid 710"; do
  # shellcheck disable=SC2086
  lists $option | perl -lne 'next if /^#/; $n++; if (/num_i\((\d+)\)/) { $r++; $i += $1 } END { print "$n $r $i" }' >"$work/listed"
  # shellcheck disable=SC2086
  "$pugmark" stat --quiet --symfs "$data/paw/root" $option "$data/paw/cpu-shared.data" |
    perl -lane '$n{$F[1]} = $F[0]; END { print "$n{elements} $n{INSTR_RANGE} $n{instructions}" }' | cmp -s - "$work/listed" ||
    { echo "stat $option: other counts"; bad=1; }
done
for option in "--tid 710" "--pid 700" "--cpu 0" "--comm paw" "--dso libpaw.so"; do
  # shellcheck disable=SC2086  # options are words
  ranges=$(lists $option | grep -c RANGE) by_time=$(lists --by-time $option | grep -c RANGE) packets=$(lists --packets $option | grep -vc '^#')
  [[ $ranges -gt 0 && $ranges -eq $by_time && $packets -gt 0 && $packets -lt $all ]] ||
    { echo "list $option: $ranges ranges, $by_time by time, $packets of $all packets"; bad=1; }
done
[[ $(lists --tid 1 | grep -c RANGE) -eq 0 && $(lists --packets --tid 1 | grep -vc '^#') -eq 0 ]] || { echo "list --tid 1: something"; bad=1; }
calls=$("$pugmark" calls --summary --quiet --symfs "$data/paw/root" "$data/paw/thread-v1.data")
ran=$(awk '$NF == "_start()" { print $4 }' <<<"$calls")
[[ $ran -eq $(xz -dc "$data/paw/expected/thread-v1.path.xz" | wc -l) ]] || { echo "calls: $ran instructions"; bad=1; }
ran=$("$pugmark" calls --summary --quiet --symfs "$data/paw/root" --tid 710 "$data/paw/cpu-shared.data" | grep -c ' 700 ')
[[ $ran -eq 0 ]] || { echo "calls --tid: another thread"; bad=1; }
# a file that is given for another has its own names, too, whatever its build id
perl -pe 's/\x56\x14\x39\x30\x80\x09/\x57\x14\x39\x30\x80\x09/' "$data/paw/root/paw/paw-static" >"$work/other"
! cmp -s "$work/other" "$data/paw/root/paw/paw-static" || { echo "no build id to change"; bad=1; }
"$pugmark" calls --summary --quiet --symfs "$work" --dso "paw-static=$work/other" "$data/paw/thread-v0.data" | grep -q collatz ||
  { echo "--dso PATH=FILE: no names"; bad=1; }
"$pugmark" trace --from-time 99999999999 "$data/paw/cpu-shared.data" >"$work/out" 2>"$work/said"
[[ $? -eq 1 && ! -s $work/out ]] && grep -q 'nothing has a timestamp of 99999999999 or later' "$work/said" ||
  { echo "trace --from-time after the end: not said"; bad=1; }
# what is missing is reported, with what exists
for option in "source 0x99:0x10 0x12" "pid 99:1 700 710" "tid 99:1 700 710" "comm other:init paw-static paw" "cpu 9:0 1"; do
  for command in pc "list --packets" profile; do
    # shellcheck disable=SC2086  # words
    "$pugmark" $command --${option%:*} "$data/paw/cpu-shared.data" >"$work/out" 2>"$work/said"
    [[ $? -eq 3 && ! -s $work/out ]] && grep -q "in it; there are ${option#*:}\$" "$work/said" ||
      { echo "$command --${option%:*}: not refused"; bad=1; }
  done
done
# what is of one buffer's bytes says that it cannot select
for command in "find --sync" index itm; do
  # shellcheck disable=SC2086
  "$pugmark" $command --tid 710 "$data/paw/cpu-shared.data" >"$work/out" 2>"$work/said"
  [[ $? -eq 2 && ! -s $work/out ]] && grep -q -- '--tid' "$work/said" || { echo "$command --tid: not refused"; bad=1; }
done
"$pugmark" find --quiet --context 0x2c6 "$data/paw/cpu-shared.data" >"$work/out" && grep -q 0x2c6 "$work/out" || { echo "find: not found"; bad=1; }
exit $bad
