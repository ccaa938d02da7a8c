#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Streams in the order of time: the bundled capture in two buffers, of which the second's clock is
# the first's. Every element of both is there, each stream in its own order, and times never go back.
#   by_time.sh BIN SOURCE
set -eu
bin=${1:?usage: by_time.sh BIN SOURCE} source=${2:?usage: by_time.sh BIN SOURCE}
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
one=$source/examples/demo two=$work/two

cp -r "$one" "$two"
chmod -R u+w "$two"
sed 's/^name=.*/name=ETM_1/' "$one/ETM_0.ini" >"$two/ETM_1.ini"
sed 's/^name=.*/name=cpu_1/' "$one/cpu_0.ini" >"$two/cpu_1.ini"
sed -i 's/^device1=.*/&\ndevice2=cpu_1.ini\ndevice3=ETM_1.ini/' "$two/snapshot.ini"
cat >"$two/trace.ini" <<'END'
[trace_buffers]
buffers=buffer0,buffer1
[buffer0]
name=ETB_0
file=trace.bin
format=coresight
[buffer1]
name=ETB_1
file=trace.bin
format=coresight
[source_buffers]
ETM_0=ETB_0
ETM_1=ETB_1
[core_trace_sources]
cpu_0=ETM_0
cpu_1=ETM_1
END

"$bin/pugmark" list "$one" >"$work/alone"
"$bin/pugmark" list --by-time "$two" >"$work/both" 2>"$work/said"
for buffer in ETB_0 ETB_1; do
  grep " $buffer " "$work/both" | sed "s/^ *[^ ]* *$buffer *//" >"$work/part"
  sed 's/^ *//' "$work/alone" | cmp - "$work/part"
done
[[ $(wc -l <"$work/both") == $((2 * $(wc -l <"$work/alone"))) ]]
# side by side, not one after the other
[[ $(awk '{ print $2 }' "$work/both" | uniq | wc -l) -gt 20 ]]
grep -qx "pugmark: source 0x10 of ETB_1: [0-9]* elements before its first timestamp" "$work/said"

"$bin/pugmark" list --by-time --quiet --format jsonl "$two" >"$work/json"
perl -ne '/"time": (\d+)/ or die; die "line $.: back to $1" if $1 < $last; $last = $1;
          END { die "no times" unless $last }' "$work/json"
[[ $(grep -c '"when": "before", .*"buffer": 1,' "$work/json") -gt 0 ]]
"$bin/pugmark" list --by-time --quiet --format csv --type timestamp "$two" >"$work/csv"
head -1 "$work/csv" | grep -q '^when,time,cycles,buffer,index,source,type,'
grep -q '^at,[0-9]*,0,1,[0-9]*,16,TIMESTAMP,' "$work/csv"

# a choice of buffers and sources
"$bin/pugmark" list --by-time --quiet --buffer ETB_1 "$two" >"$work/part"
[[ $(wc -l <"$work/part") == $(wc -l <"$work/alone") ]]
! grep -q ETB_0 "$work/part"
! "$bin/pugmark" list --by-time --buffer none "$two" >"$work/part" 2>&1
! "$bin/pugmark" list --by-time --packets "$two" >"$work/part" 2>&1

# calls: both trees, in the order of time
"$bin/pugmark" calls --by-time --quiet "$two" >"$work/calls"
[[ $(grep -c 'ETB_1 10 .*}' "$work/calls") == $(grep -c 'ETB_0 10 .*}' "$work/calls") ]]
sed -n 's/^  ETB_[01] 10 *\([0-9][0-9]*\) .*/\1/p' "$work/calls" >"$work/times"
sort -nc "$work/times"
[[ $(wc -l <"$work/times") -gt 100 ]]
"$bin/pugmark" calls --by-time --quiet --summary "$two" | grep '^  ETB_1' | sed 's/^  ETB_1//' >"$work/part"
"$bin/pugmark" calls --quiet --summary "$one" | grep '^  10' | sed 's/^ //' | cmp - "$work/part"

# The chunk that a part hands on before its end also follows the head of its buffer.
for jobs in 1 2; do
    head=$("$bin/pugmark" list --quiet --time 0, --jobs $jobs "$source/tests/captures/ete-a64-versions" | sed -n 1p)
    [[ $head == '# buffer buffer_0'* ]] || { echo "--jobs $jobs: the list begins with $head"; exit 1; }
done
