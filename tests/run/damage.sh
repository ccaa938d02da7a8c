#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Damaged captures: whatever is wrong with them, the lister must not crash and not hang. Best run on
# the build with sanitizers. The damage is the same each time: PUG_DAMAGE_SEED (1) is the first
# seed, PUG_DAMAGE_COUNT (100) how many.
#   damage.sh BIN SOURCE
set -u
bin=${1:?usage: damage.sh BIN SOURCE} source=${2:?usage: damage.sh BIN SOURCE}
first=${PUG_DAMAGE_SEED:-1} count=${PUG_DAMAGE_COUNT:-100} limit=16384
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"

shopt -s nullglob globstar dotglob
[[ $source == /* ]] || source=$PWD/$source
captures=()
[[ ${PUG_PART-} == own ]] || captures+=("$source"/../shared/captures/*/snapshot.ini)
[[ ${PUG_PART-} == shared ]] || captures+=("$source"/examples/*/snapshot.ini "$source"/tests/captures/*/snapshot.ini)
captures=("${captures[@]%/*}")
if ((${#captures[@]} == 0)); then
    echo "skipped: no captures"
    exit 77
fi

options=("-decode" "-decode -stats" "-decode -multi_session" "-decode -halt_err" ""
    "-pkt_mon -o_raw_packed -o_raw_unpacked" "-decode -tpiu" "-decode -tpiu_hsync"
    "-decode -test_waits 9" "-decode -src_addr_n -aa64_opcode_chk -range_cont -strict_br_cond"
    "-decode_only -dstream_format" "-ss_verbose -decode_only")

# The names of a capture's trace files, each between bars.
trace_files() {
    local line within=
    traces='|'
    [[ -e $1/trace.ini ]] || return 0
    while IFS= read -r line || [[ $line ]]; do
        line=${line%$'\r'}
        case $line in
        '[trace_buffers]'*) within=yes ;;
        '[source_buffers]'*) within= ;;
        esac
        [[ ! $within || ! $line =~ ^file\ *=\ *(.*) ]] || traces+="${BASH_REMATCH[1]}|"
    done <"$1/trace.ini"
}

# Every file of a capture is linked, but for trace files, which are damaged, and now and then an
# ini file or a memory dump.
damage_capture() {
    local seed=$1 from=$2 to=$3 file name files=()
    cp -rsL --no-preserve=mode "$from" "$to"
    for file in "$from"/**; do
        name=${file#"$from"/}
        [[ -f $file ]] || continue
        if [[ $traces == *"|$name|"* ]] || { ((seed % 5 == 0)) && [[ $name == *.ini ]]; } ||
            { ((seed % 7 == 0)) && [[ $name != *.ini ]]; }; then
            files+=("$file" "$to/$name")
        fi
    done
    ((${#files[@]} == 0)) || perl "$source/tests/support/damage.pl" "$seed" "$limit" "${files[@]}"
}

bad=0
for ((seed = first; seed < first + count; seed++)); do
    capture=${captures[seed % ${#captures[@]}]}
    trace_files "$capture"
    damage_capture "$seed" "$capture" "$work/$seed"
    # shellcheck disable=SC2086  # options are words
    timeout 60 "$bin/trc_pkt_lister" -ss_dir "$work/$seed" ${options[seed % ${#options[@]}]} \
        -logfilename "$work/out" >/dev/null 2>"$work/err"
    code=$?
    if ((code >= 124 && code != 254 && code != 255)) || [[ -s $work/err ]]; then
        echo "seed $seed, ${capture##*/}, options ${options[seed % ${#options[@]}]}: exit $code"
        head -5 "$work/err"
        bad=$((bad + 1))
    fi
    rm -rf "${work:?}/$seed" "$work/out"
done
echo "$bad of $count damaged captures crashed or hung"
((bad == 0))
