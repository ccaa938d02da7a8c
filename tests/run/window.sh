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
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
pugmark=$bin/pugmark
failed=0 turn=0 newline=$'\n'
RANDOM=${PUG_WINDOW_SEED:-1}

full() { # FORM
    "$pugmark" list --quiet "${how[@]}" "${capture[@]}" >"$work/$1" || true
    form=$1
}

# So many copies of an index: a window adds states to it.
copies() { # NAME HOW_MANY
    local to=() n
    for ((n = 0; n < $2; n++)); do to+=("$work/$1.$n"); done
    tee "${to[@]}" <"$work/$1" >/dev/null
    used=0
}

# A part of the list, of which cut_windows.pl is asked at last whether it has the lines of the full one.
ask() { # from|beside, its two numbers, OPTION...
    local which=("$1" "$2" "$3")
    shift 3
    case $index in
    none) file=() ;;
    marks | states) file=(--index "$work/$index.$((used++))") ;;
    grown) file=(--index "$work/grown") ;; # one of marks, again and again
    esac
    "$pugmark" list --quiet "${how[@]}" "${file[@]}" "$@" "${capture[@]}" >"$work/part.$asked" || true
    echo "$form part.$asked ${which[*]} ${capture[*]}: list ${how[*]} ${file[*]} $*" >>"$work/requests"
    asked=$((asked + 1))
}

# Windows of the list that "${how[@]}" makes, by these indexes.
windows() { # INDEX...
    for index; do
        [[ $index == none || $index == grown ]] || copies $index $((count + 1))
        for ((n = 0; n < count; n++)); do
            at=$(((RANDOM * 32768 + RANDOM) % (size + 1))) radius=$((1 + RANDOM % 3000))
            ask from $((at > radius ? at - radius : 0)) $((at + radius)) --around $at --radius $radius
        done
        lines=$((1 + RANDOM % 50))
        ask beside "$at" $lines --around "$at" --count $lines
    done
}

by_time() {
    local from to
    copies states 3
    index=states file=(--index "$work/states.2")
    read -r from _ < <("$pugmark" find "${file[@]}" --time "$1" "${capture[@]}" 2>/dev/null)
    read -r to _ < <("$pugmark" find "${file[@]}" --time $(($2 + 1)) "${capture[@]}" 2>/dev/null)
    [[ -n $from && -n $to ]] || return 0
    ask from "$from" "$to" --from-time "$1" --to-time "$2"
    # in seconds, if ten of them are one
    capture=(--set timestamp_hz=10 "${capture[@]}")
    ask from "$from" "$to" --from-time "$(($1 / 10)).$(($1 % 10))" --to-time "$(($2 / 10)).$(($2 % 10))"
}

check() {
    local asked=0 times
    : >"$work/requests"
    how=(--format jsonl)
    full json
    # The last offset, and two times of the trace.
    read -r size times < <(perl -ne '$at = $1 if /^\{"index": (\d+)/; $is{$1} = 1 while /"timestamp": ([1-9]\d*)/g;
        END { my @times = sort { $a <=> $b } keys %is; print $at // 0, $#times < 3 ? "" : " $times[0] $times[3]", "\n" }' "$work/json")
    ((size > 0)) || return 0
    "$pugmark" index --quiet --rebuild --output "$work/marks" --block 1024 "${capture[@]}" || failed=1
    cp "$work/marks" "$work/grown"
    "$pugmark" index --quiet --rebuild --output "$work/states" --block 2000 --elements \
        "${capture[@]}" || failed=1
    # Of each capture two of the indexes for elements and packets, and the others for words; or all, where more windows are asked for.
    local two=(none grown) others=(marks states)
    (((turn += 1) % 2)) || two=(marks states) others=(none grown)
    [[ -z ${PUG_WINDOW_COUNT-} ]] || two=(none marks grown states) others=(none marks grown states)
    windows "${two[@]}"
    how=(--packets)
    full packets
    windows "${two[@]}"
    how=()
    full plain
    windows "${others[@]}"
    how=(--format jsonl) form=json
    # shellcheck disable=SC2086  # two numbers
    [[ -z $times ]] || by_time $times
    perl "$source/tests/support/cut_windows.pl" "$work" || failed=1
}

shopt -s nullglob
all=()
[[ ${PUG_PART-} == shared ]] || all+=("$source"/examples/*/snapshot.ini "$source"/tests/captures/*/snapshot.ini)
[[ ${PUG_PART-} == own ]] || all+=("$source"/../shared/captures/*/snapshot.ini)
((${#all[@]} > 0)) || { echo "skipped: no captures at $source/../shared"; exit 77; }
for ini in "${all[@]}"; do
    capture=("${ini%/*}")
    # A window is of one buffer.
    said=$("$pugmark" info --quiet "${capture[@]}" 2>/dev/null || true)
    [[ ! $newline$said =~ ${newline}buffer\ ([^:]*): ]] || capture=(--buffer "${BASH_REMATCH[1]}" "${capture[@]}")
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
