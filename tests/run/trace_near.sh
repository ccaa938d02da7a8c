#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark trace on long traces: a window that is decoded from the bytes around it alone is the one that the whole trace gives.
set -u
pugmark=$1/pugmark captures=$2/tests/captures bad=0 short=0 turn=0
. "$2/tests/support/repeat.sh"
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
fail() { echo "$*"; bad=1; }

# Times that only an earlier packet has are left out, and so are counts of what was not decoded.
window() { "$pugmark" trace --quiet --format jsonl "$@" "$work/long" 2>"$work/said" | sed -E 's/"time": [0-9]+, //'; }

for capture in "$captures"/{etmv4-a64,etmv3-arm-threads,ntrace-rv64-btm}; do
    name=${capture##*/}
    rm -rf "$work/long"
    cp -r "$capture" "$work/long"
    chmod -R u+w "$work/long"
    size=$(stat -c %s "$capture/trace.bin")
    times=$((4200000 / size + 1)) at=$((times * size))
    repeat "$capture/trace.bin" $times >"$work/long/trace.bin"
    all=('--last 50' '--last 7 --unit calls' "--around $((at * 2 / 3)) --last 20" '--before exception --last 30')
    for wanted in "${all[turn++ % 4]}" "${all[turn++ % 4]}"; do # of each capture two in turn
        window $wanted --whole >"$work/whole"
        window $wanted >"$work/near"
        cmp -s "$work/whole" "$work/near" || fail "$name: $wanted: not what the whole trace gives"
        [[ -s $work/near ]] || echo "$name: $wanted: nothing there"
    done
    # It is the end alone that was decoded: the beginning may be anything.
    window --last 50 >"$work/near"
    dd if=/dev/zero of="$work/long/trace.bin" bs=1M count=2 conv=notrunc 2>"$work/dd" || fail "dd"
    window --last 50 | cmp -s - "$work/near" && short=$((short + 1))
done
((short > 0)) || fail "no window was found near the end"

# Around an offset: from so many bytes before it to so many after it.
"$pugmark" trace --quiet --format jsonl "$captures/etmv4-arm" >"$work/all"
middle=$(sed -n 's/^{"index": \([0-9]*\), .*"address".*/\1/p' "$work/all" | sed -n 9000p)
for jobs in 1 2 3; do
    "$pugmark" trace --quiet --format jsonl --jobs "$jobs" --around "$middle" --last 40 "$captures/etmv4-arm" >"$work/around"
    grep -q "\"index\": $middle, " "$work/around" || fail "--around $middle: it is not there"
    before=$(awk -v middle="$middle" -F'[ ,]' '/"address"/ && $2 < middle' "$work/around" | wc -l)
    behind=$(awk -v middle="$middle" -F'[ ,]' '/"address"/ && $2 >= middle' "$work/around" | wc -l)
    ((before >= 30 && before <= 80 && behind >= 40 && behind <= 80)) || fail "--around: $before before, $behind behind"
    sed 's/, "depth": [0-9]*//' "$work/around" >"$work/lines"
    sed 's/, "depth": [0-9]*//' "$work/all" >"$work/whole"
    found=0
    for start in $(grep -nxF "$(head -n 1 "$work/lines")" "$work/whole" | cut -d: -f1); do
        tail -n "+$start" "$work/whole" | head -n "$(wc -l <"$work/lines")" | cmp -s - "$work/lines" && found=1
    done
    ((found)) || fail "--around: other lines than the whole has"
done
exit $bad
