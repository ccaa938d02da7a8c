#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark list of a part of the trace gives exactly the lines that the full list has there: random
# windows over every capture, with an index of marks alone and with one that proves elements.
#   window.sh BIN SOURCE
set -u
bin=${1:?usage: window.sh BIN SOURCE} source=${2:?usage: window.sh BIN SOURCE}
count=${PUG_WINDOW_COUNT:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pugmark=$bin/pugmark
failed=0
RANDOM=${PUG_WINDOW_SEED:-1}

# The lines of the full list whose offset, the first number in them, lies in [FROM, TO).
slice() {
    sed -E 's/^\{"index": ([0-9]+).*/\1 &/' "$work/full" |
        awk -v from="$1" -v to="$2" '$1 + 0 >= from && $1 + 0 < to' | sed -E 's/^[0-9]+ \{/{/'
}

compare() {
    local from=$1 to=$2
    shift 2
    "$pugmark" list --quiet --format jsonl --index "$work/index" "$@" "${capture[@]}" >"$work/part"
    slice "$from" "$to" >"$work/expected"
    cmp -s "$work/part" "$work/expected" && return
    echo "FAILED: ${capture[*]}: list $* differs from offsets $from to $to" >&2
    failed=1
}

check() {
    rm -f "$work/index"
    "$pugmark" list --quiet --format jsonl "${capture[@]}" >"$work/full"
    size=$(tail -n 1 "$work/full" | sed -E 's/^\{"index": ([0-9]+).*/\1/')
    [[ $size -gt 0 ]] || return 0
    for index in "--block 1024" "--block 2000 --elements"; do
        # shellcheck disable=SC2086
        "$pugmark" index --quiet --rebuild --output "$work/index" $index "${capture[@]}" || failed=1
        for ((n = 0; n < count; n++)); do
            at=$(((RANDOM * 32768 + RANDOM) % (size + 1))) radius=$((1 + RANDOM % 3000))
            compare $((at > radius ? at - radius : 0)) $((at + radius)) --around $at --radius $radius
        done
    done
    # Two times of the trace, by the offsets that find gives.
    mapfile -t times < <(grep -oE '"timestamp": [1-9][0-9]*' "$work/full" | awk '{print $2}' |
        sort -n -u | awk 'NR % 3 == 1' | head -n 2)
    ((${#times[@]} == 2)) || return
    from=$("$pugmark" find --index "$work/index" --time "${times[0]}" "${capture[@]}" 2>/dev/null |
        awk '{print $1}')
    to=$("$pugmark" find --index "$work/index" --time $((times[1] + 1)) "${capture[@]}" 2>/dev/null |
        awk '{print $1}')
    [[ -n $from && -n $to ]] || return
    compare "$from" "$to" --from-time "${times[0]}" --to-time "${times[1]}"
}

shopt -s nullglob
for ini in "$source"/examples/*/snapshot.ini "$source"/../shared/captures/*/snapshot.ini; do
    capture=("$(dirname "$ini")")
    check
done
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
