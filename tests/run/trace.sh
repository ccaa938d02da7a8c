#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark trace: every executed instruction once, in its words; windows are exactly the lines that the whole has there.
set -u
pugmark=$1/pugmark demo=$2/examples/demo bad=0
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
fail() { echo "$*"; bad=1; }

# The path that ran, in both forms.
"$pugmark" trace "$demo" >"$work/all" || fail "trace: exit $?"
grep -v '^--' "$work/all" | awk '{print $1}' >"$work/path"
cmp -s "$work/path" "$demo/path.txt" || fail "trace: another path than the one that ran"
"$pugmark" trace --format jsonl "$demo" >"$work/json" || fail "trace --format jsonl: exit $?"
sed -n 's/.*"address": "0x\([0-9a-f]*\)".*/\1/p' "$work/json" | cmp -s - "$demo/path.txt" || fail "jsonl: another path"
if python3 -c "import json" 2>/dev/null; then
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <"$work/json" || fail "not JSON"
fi
grep -q 'exception 2 (call), returns to 0x' "$work/all" || fail "no word of the exception"

# Ranges, in both forms.
ranges() { # WORD...
    "$pugmark" trace --ranges "$@" 2>/dev/null | sed -n 's/^ *\([0-9a-f]*\) *to \([0-9a-f]*\), \([0-9]*\) instruction.*/\1 \2 \3/p' >"$work/ranges"
    "$pugmark" trace --ranges --format jsonl "$@" 2>/dev/null |
        sed -n 's/.*"address": "0x\([0-9a-f]*\)", "end": "0x\([0-9a-f]*\)", "count": \([0-9]*\),.*/\1 \2 \3/p' >"$work/got"
    [[ -s $work/ranges ]] && cmp -s "$work/ranges" "$work/got" || fail "--ranges --format jsonl $*: not the ranges"
}
ranges "$demo"
grep -q '"count": [0-9]*, "isa": "A64", "outcome": "taken", "depth": [0-9]' <("$pugmark" trace --ranges --format jsonl "$demo") ||
    fail "--ranges --format jsonl: no outcome"

# A call goes in, a return comes out.
if grep -q ' bl 0x' "$work/all"; then
    grep -v '^--' "$work/all" |
        awk '/ bl 0x.*taken/ { match($0, /[0-9a-f]+  +/); depth = RLENGTH; getline; match($0, /[0-9a-f]+  +/); if (RLENGTH != depth + 2) exit 1 }' || fail "a call is not indented"
    grep -q ' ret  *taken' "$work/all" || fail "no outcome of a return"
else
    echo "no LLVM here: words of instructions are not looked at"
fi

# The last N instructions, whatever N.
count=$(wc -l <"$demo/path.txt")
for n in 1 2 5 17 "$count" $((count + 10)); do
    "$pugmark" trace --last "$n" "$demo" | grep -v '^--' | awk '{print $1}' >"$work/got"
    tail -n "$n" "$demo/path.txt" | cmp -s - "$work/got" || fail "--last $n: not the last instructions"
done
"$pugmark" trace --last 3 --unit calls "$demo" | grep -c '  bl 0x.*taken\|  blr .*taken' >"$work/got"
[[ $(cat "$work/got") == 3 || ! $(grep ' bl 0x' "$work/all") ]] || fail "--unit calls: $(cat "$work/got") calls"
"$pugmark" trace --last 4 --before exception "$demo" | grep -v '^--' | awk '{print $1}' |
    cmp -s - <(tail -n 4 "$demo/path.txt") || fail "--before exception"

# Before an address: it ends with the last range that has it.
address=$(sed -n '20p' "$demo/path.txt")
last=$(grep -n "^$address\$" "$demo/path.txt" | tail -n 1 | cut -d: -f1)
"$pugmark" trace --before "0x$address" --last 30 "$demo" | grep -v '^--' | awk '{print $1}' >"$work/got"
grep -q "^$address\$" "$work/got" || fail "--before $address: it is not there"
first=$(head -n 1 "$work/got") lines=$(wc -l <"$work/got")
((lines <= 30)) || fail "--before: $lines instructions instead of at most 30"
for start in $(grep -n "^$first\$" "$demo/path.txt" | cut -d: -f1); do
    sed -n "$start,$((start + lines - 1))p" "$demo/path.txt" | cmp -s - "$work/got" && found=$start
done
((${found:-0} > 0 && found + lines > last)) || fail "--before $address: not on the path, or not the last time"

# From a time on: what the whole has from there.
time=$(sed -n 's/^-- at \([0-9]*\) ticks$/\1/p' "$work/all" | sed -n 3p)
"$pugmark" trace --from-time "$time" "$demo" | grep -v '^--' | awk '{print $1}' >"$work/got"
sed -n "/^-- at $time ticks/,\$p" "$work/all" | grep -v '^--' | awk '{print $1}' | cmp -s - "$work/got" && [[ -s $work/got ]] ||
    fail "--from-time $time: not what ran from then on"
"$pugmark" trace --from-time 99999999999 "$demo" >/dev/null 2>"$work/said"
[[ $? -eq 1 ]] && grep -q 'nothing has a timestamp of' "$work/said" || fail "--from-time behind the end"
# in seconds of a trace that says how long ticks are the same
seconds="$((time / 1000000)).$(printf %06d $((time % 1000000)))"
"$pugmark" trace --set timestamp_hz=1000000 --from-time "$seconds" "$demo" | grep -v '^--' | awk '{print $1}' | cmp -s - "$work/got" ||
    fail "--from-time $seconds: not what ran from then on"
"$pugmark" trace --set timestamp_hz=1000000 --from-time "$seconds" "$demo" | grep -q "^-- at ${seconds}000 s$" || fail "times are in another unit than --from-time"
"$pugmark" trace --set timestamp_hz=1000000 --from-time 99999.5 "$demo" >/dev/null 2>"$work/said"
[[ $? -eq 1 ]] && grep -q 'nothing has a timestamp of 99999.5' "$work/said" || fail "--from-time behind the end, in seconds"
"$pugmark" trace --from-time 1.5 "$demo" >/dev/null 2>"$work/said"
[[ $? -eq 2 ]] && grep -q 'expected ticks' "$work/said" || fail "--from-time in seconds of a trace without"
"$pugmark" trace --from-time 1 --last 2 "$demo" >/dev/null 2>&1
[[ $? -eq 2 ]] || fail "--from-time with --last"

# The same with any number of threads.
for jobs in 1 2 3; do
    "$pugmark" trace --jobs "$jobs" "$demo" | cmp -s - "$work/all" || fail "--jobs $jobs: other lines"
done

# What cannot be.
"$pugmark" trace --before 0x4 "$demo" >/dev/null 2>"$work/said"
[[ $? -eq 1 ]] && grep -q 'nothing ran at 0x4' "$work/said" || fail "an address that never ran: $(cat "$work/said")"
"$pugmark" trace --before nonsense "$demo" >/dev/null 2>"$work/said"
[[ $? -eq 2 ]] && grep -q "there is no function 'nonsense'" "$work/said" || fail "--before nonsense"
"$pugmark" trace --unit miles "$demo" >/dev/null 2>&1
[[ $? -eq 2 ]] || fail "--unit miles"

# Colours only where they are wanted.
"$pugmark" trace --color always --last 2 "$demo" | grep -q $'\033\[33m' || fail "no colours"
grep -q $'\033' "$work/all" && fail "colours in a file"
exit $bad
