#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark list of a part of the trace gives exactly the lines that the full list has there: random
# windows over every capture, of elements, of packets and in words, by place and by number, with an
# index of marks alone, with one that has the decoders' states, with one that gets more of them from
# window to window, and without a file.
#   window.sh BIN SOURCE
set -u
bin=${1:?usage: window.sh BIN SOURCE} source=${2:?usage: window.sh BIN SOURCE}
count=${PUG_WINDOW_COUNT:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pugmark=$bin/pugmark
failed=0
RANDOM=${PUG_WINDOW_SEED:-1}

# Without the encapsulation's lines, which stand with a packet and are not counted.
unwrapped() {
    grep -v '^Idx:' || true
}

# Put the offset, the first number in it, before each line of a list.
number() {
    unwrapped | awk '/^\{"index": [0-9]/ { print $2 + 0, $0; next } /^ *[0-9]+  / { print $1, $0; next } { print }'
}

full() {
    "$pugmark" list --quiet "${how[@]}" "${capture[@]}" | number >"$work/full"
}

# The lines of the full list whose offset lies in [FROM, TO).
slice() {
    awk -v from="$1" -v to="$2" '$1 + 0 >= from && $1 + 0 < to' "$work/full" | sed -E 's/^[0-9]+ //'
}

# COUNT lines before the first one at OFFSET or after it, and COUNT from it on.
beside() {
    awk -v at="$1" -v count="$2" '
        { line[NR] = $0; if (!first && $1 + 0 >= at) first = NR }
        END { if (!first) first = NR + 1
              for (n = first - count; n < first + count; n++) if (n in line) print line[n] }' \
        "$work/full" | sed -E 's/^[0-9]+ //'
}

differs() {
    cmp -s "$work/part" "$work/expected" && return
    echo "FAILED: ${capture[*]}: list ${how[*]} $* differs" >&2
    failed=1
}

part() {
    local file=(--index "$work/index")
    [[ $index == grown || $index == none ]] || cp "$work/$index" "$work/index" # a window adds states to it
    [[ $index != none ]] || file=()
    "$pugmark" list --quiet "${how[@]}" "${file[@]}" "$@" "${capture[@]}" | unwrapped >"$work/part"
}

compare() {
    local from=$1 to=$2
    shift 2
    part "$@"
    slice "$from" "$to" >"$work/expected"
    differs "$@"
}

# Windows of the list that "${how[@]}" makes, by each of the indexes.
windows() {
    for index in none marks grown states; do
        for ((n = 0; n < count; n++)); do
            at=$(((RANDOM * 32768 + RANDOM) % (size + 1))) radius=$((1 + RANDOM % 3000))
            compare $((at > radius ? at - radius : 0)) $((at + radius)) --around $at --radius $radius
        done
        lines=$((RANDOM % 50))
        part --around $at --count $lines
        beside $at $lines >"$work/expected"
        differs --around $at --count $lines
    done
}

check() {
    how=(--format jsonl)
    full
    size=$(tail -n 1 "$work/full" | cut -d ' ' -f 1)
    [[ $size -gt 0 ]] || return 0
    "$pugmark" index --quiet --rebuild --output "$work/marks" --block 1024 "${capture[@]}" || failed=1
    "$pugmark" index --quiet --rebuild --output "$work/states" --block 2000 --elements \
        "${capture[@]}" || failed=1
    windows
    mv "$work/full" "$work/json"
    how=(--packets)
    full
    windows
    how=()
    full
    windows
    mv "$work/json" "$work/full"
    how=(--format jsonl)
    # Two times of the trace, by the offsets that find gives.
    mapfile -t times < <(grep -oE '"timestamp": [1-9][0-9]*' "$work/full" | awk '{print $2}' |
        sort -n -u | awk 'NR % 3 == 1' | head -n 2)
    ((${#times[@]} == 2)) || return 0
    from=$("$pugmark" find --index "$work/index" --time "${times[0]}" "${capture[@]}" 2>/dev/null |
        awk '{print $1}')
    to=$("$pugmark" find --index "$work/index" --time $((times[1] + 1)) "${capture[@]}" 2>/dev/null |
        awk '{print $1}')
    [[ -n $from && -n $to ]] || return 0
    compare "$from" "$to" --from-time "${times[0]}" --to-time "${times[1]}"
    # in seconds, if ten of them are one
    capture=(--set timestamp_hz=10 "${capture[@]}")
    compare "$from" "$to" --from-time "$((times[0] / 10)).$((times[0] % 10))" --to-time "$((times[1] / 10)).$((times[1] % 10))"
}

shopt -s nullglob
all=()
[[ ${PUG_PART-} == shared ]] || all+=("$source"/examples/*/snapshot.ini "$source"/tests/captures/*/snapshot.ini)
[[ ${PUG_PART-} == own ]] || all+=("$source"/../shared/captures/*/snapshot.ini)
((${#all[@]} > 0)) || { echo "skipped: no captures at $source/../shared"; exit 77; }
for ini in "${all[@]}"; do
    capture=("$(dirname "$ini")")
    # A window is of one buffer.
    buffer=$("$pugmark" info --quiet "${capture[@]}" 2>/dev/null | sed -n 's/^buffer \([^:]*\):.*/\1/p' | head -n 1)
    [[ -z $buffer ]] || capture=(--buffer "$buffer" "${capture[@]}")
    check
done
[[ ${PUG_PART-} != own ]] || exit $failed
vectors=$source/../shared/vectors
if [[ -d $vectors ]]; then
    for name in base ctx1 all; do
        run=$vectors/etrace/dhrystone/$name
        capture=(--protocol etrace --params "$run.params" --image
            "$vectors/etrace/dhrystone/bootrom.bin@0x1000" "$run.te")
        [[ -f $run.te ]] && check
    done
    for name in btm htm; do
        capture=(--protocol ntrace --elf "$vectors/ntrace/ref-dhrystone/dhrystone.elf"
            "$vectors/ntrace/ref-dhrystone/$name.nex")
        check
    done
    capture=(--protocol osd-stm --set src_id=6 "$vectors/osd/stm16/stream.dtd") && check
    capture=(--protocol osd-ctm --set src_id=2 --elf "$vectors/osd/ctm32/traps32.elf"
        "$vectors/osd/ctm32/stream.dtd") && check
else
    echo "$vectors is not there: RISC-V and OSD are not tested"
fi
exit $failed
