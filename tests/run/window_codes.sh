#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark list of a part of the trace: its messages and the exit code are the same for the same request, whatever index exists,
# and concern that part alone; also where sources stay silent for long after it.
#   window_codes.sh BIN SOURCE
set -u
bin=${1:?usage: window_codes.sh BIN SOURCE} source=${2:?usage: window_codes.sh BIN SOURCE}
. "$source/tests/support/repeat.sh"
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
pugmark=$bin/pugmark capture=$work/capture
failed=0

wrong() {
    echo "FAILED: $*" >&2
    failed=1
}

# In the middle of the trace one source speaks alone for long: 0x11 is silent there, 0x12 everywhere.
whole=$source/tests/captures/etmv4-a64/trace.bin
cp -r "$source/tests/captures/etmv4-a64" "$capture"
tail -c +5121 "$whole" | head -c 10240 >"$work/part"
repeat "$work/part" 30 >"$work/lonely"
cat "$whole" "$work/lonely" "$whole" "$work/lonely" "$whole" >"$capture/trace.bin"
size=$(stat -c %s "$capture/trace.bin")
# A byte in the first part, one in the last, and a program that lacks something.
for at in 2100 $((size - 9000)); do
    printf '\x55\x01\x02' | dd of="$capture/trace.bin" bs=1 seek=$at conv=notrunc status=none
done
sed -i '/^\[dump1\]/,$d' "$capture"/cpu_?.ini

"$pugmark" index --quiet --output "$work/marks" --block 1024 "$capture" || wrong "index"
"$pugmark" index --quiet --output "$work/states" --block 2048 --elements "$capture" || wrong "index --elements"
mkdir "$work/copies"
"$pugmark" list "$capture" >"$work/full" 2>/dev/null
(($? == 1)) || wrong "nothing is wrong with the whole"

# A request by each of the indexes: its output, what is said and the code.
ask() {
    local index file code
    cp "$work/marks" "$work/states" "$work/copies" # a window adds states to them
    for index in none marks states; do
        file=()
        [[ $index == none ]] || file=(--index "$work/copies/$index")
        "$pugmark" list "${file[@]}" "$@" "$capture" >"$work/out.$index" 2>"$work/said.$index"
        code=$?
        [[ $index != none ]] || first=$code
        ((code == first)) || wrong "list $*: exit code $first without an index, $code with one of $index"
        [[ $index == none ]] || for what in out said; do
            cmp -s "$work/$what.none" "$work/$what.$index" || wrong "list $*: other $what with an index of $index"
        done
    done
}

errors=0 good=0 turn=0
for at in 0 300 2100 3000 4300 4700 9000 40000 200000 320000 326000 331000 345000 500000 $((size - 9000)) $((size - 500)); do
    ask --around $at --radius 400
    awk -v at=$at '$1 >= at - 400 && $1 < at + 400' "$work/full" | cmp -s - "$work/out.none" ||
        wrong "around $at: not the lines of the full list"
    ((first == 0)) && good=$((good + 1)) || errors=$((errors + 1))
    # addresses without memory are wrong where they are listed
    ! grep -q ADDR_NACC "$work/out.none" || ((first == 1)) || wrong "around $at: code $first for missing memory"
    case $(((turn += 1) % 3)) in
    0) ask --around $at --count 20 ;;
    1) ask --around $at --radius 400 --packets ;;
    2) ask --around $at --radius 400 --packets --elements ;;
    esac
done
# A window that is all of the trace: marks are made of all sources, but what is wrong with others is no matter.
cp "$source"/tests/captures/etmv4-a64/cpu_?.ini "$capture"
printf '\x95\x95\x95' | dd of="$capture/trace.bin" bs=1 seek=3000 conv=notrunc status=none
ask --around 100 --radius "$size" --source 0x11
((first == 1)) || wrong "a damaged source: exit code $first"
ask --around 100 --radius "$size" --source 0x12
((good > 0 && errors > 0)) || wrong "$good windows without errors, $errors with some"
exit $failed
