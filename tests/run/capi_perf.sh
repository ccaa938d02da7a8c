#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Stock perf on data of our own: a program recorded by the ETMv4 encoder, whose branches are known.
#   capi_perf.sh BIN SOURCE
# perf with our library must print the branches that were taken, and, where the reference is
# installed, the same branches, instruction samples and injected samples as with the reference.
# Skipped (77) without a perf that is linked with OpenCSD. PUG_PERF: the command, else "perf".
set -u
bin=${1:?usage: capi_perf.sh BIN SOURCE} source=${2:?usage: capi_perf.sh BIN SOURCE}
lib=$(readlink -f "$bin/../lib") make=$(readlink -f "$bin/../tests")/capi_perf_data
perf=$(command -v "${PUG_PERF:-perf}")
if [ -z "$perf" ]; then
    echo "skipped: no perf"
    exit 77
fi
if grep -aq __asan_init "$lib/libopencsd_c_api.so.1"; then
    echo "skipped: a library with sanitizers cannot be loaded into perf"
    exit 77
fi
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
export HOME=$tmp PERF_CONFIG=/dev/null

run() { # LIBDIR OUT: everything that is compared
    local data=$tmp/perf.data
    [ -n "$1" ] && local -x LD_LIBRARY_PATH=$1
    "$perf" script --itrace=b -F ip,addr -i "$data" >"$2.branches" 2>"$2.err" || return 1
    "$perf" script --itrace=i100il16 -F ip,flags,brstack -i "$data" >"$2.instr" 2>>"$2.err"
    "$perf" inject --itrace=i100il --strip -i "$data" -o "$tmp/inj" >/dev/null 2>>"$2.err"
    "$perf" script -F ip,brstack -i "$tmp/inj" >"$2.injected" 2>>"$2.err"
    rm -f "$tmp/inj"
}

# "FROM => TO". Trace begins and ends with a zero on one side; a branch to the next instruction is not seen when only the path is
# known.
taken() {
    while read -r from _ to; do
        ((0x$from && 0x$to && 0x$to != 0x$from + 4)) && echo "$from $to"
    done <"$1"
}

for seed in 11 40 49; do
    "$make" "$tmp" $seed || exit 1
    if ! run "$lib" "$tmp/ours"; then
        if grep -qi 'no opencsd\|auxtrace' "$tmp/ours.err"; then
            echo "skipped: this perf cannot decode CoreSight trace"
            exit 77
        fi
        cat "$tmp/ours.err"
        exit 1
    fi
    taken "$tmp/ours.branches" >"$tmp/taken"
    # The last branch may have nothing after it that would show it to perf.
    seen=$(wc -l <"$tmp/taken") all=$(wc -l <"$tmp/branches.txt")
    if ! head -n "$seen" "$tmp/branches.txt" | diff - "$tmp/taken" >"$tmp/diff" ||
        ((seen < all - 1)); then
        echo "seed $seed: perf does not see the branches that were taken"
        head -5 "$tmp/diff"
        exit 1
    fi
    echo "seed $seed: $seen branches as they were taken"
    run "" "$tmp/theirs" || continue # no reference installed
    for what in branches instr injected; do
        cmp "$tmp/theirs.$what" "$tmp/ours.$what" || exit 1
    done
    echo "seed $seed: as with the installed library"
done
