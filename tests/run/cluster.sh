#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark-mpi on 1, 2, 3, 5 and 8 processes prints what pugmark prints, on standard output, on standard
# error and as exit code, and writes the same files; of whole captures and of damaged ones. Pieces are far
# too small, so that processes take over from each other often. PUG_CLUSTER_ALL=1: every command with every
# number; else they take turns. Skipped (77) without MPI.
set -eu
bin=$1 source=$2
. "$source/tests/support/mpi.sh"
shared=$source/../shared
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
counts=(2 3 5 8 1)
commands=(list pc "stat --json" "profile --format autofdo" "index --rebuild --elements --block 4096 -o $tmp/index"
    "profile --format folded" "coverage --format json" "list --format csv --packets" "profile -o $tmp/index")
runs=0

differ() { # WHAT...
    echo "$*"
    diff "$tmp/err.one" "$tmp/err.many" | head -5
    exit 1
}

# Seconds are never the same.
without_time() {
    sed -i -E 's/"seconds":[^,]*,//' "$1"
}

compare() { # PROCESSES INPUT COMMAND...
    local processes=$1 input=$2 code=0 many=0
    shift 2
    rm -f "$tmp/index" "$tmp/index.one"
    "$bin/pugmark" "$@" "$input" >"$tmp/out.one" 2>"$tmp/err.one" || code=$?
    if [ -e "$tmp/index" ]; then mv "$tmp/index" "$tmp/index.one"; fi
    mpi "$processes" "$bin/pugmark-mpi" --piece 1024 --block 64 "$@" "$input" >"$tmp/out.many" 2>"$tmp/err.many" || many=$?
    quiet_mpi "$tmp/err.many"
    without_time "$tmp/out.one"
    without_time "$tmp/out.many"
    for what in out err; do
        cmp -s "$tmp/$what.one" "$tmp/$what.many" || differ "$input: $*: $processes processes: another standard $what"
    done
    [ $code = $many ] || differ "$input: $*: $processes processes: exit code $many, not $code"
    if [ -e "$tmp/index.one" ]; then
        cmp -s "$tmp/index.one" "$tmp/index" || differ "$input: $*: $processes processes: another file"
    fi
    runs=$((runs + 1))
}

turns() { # INPUT HOW_MANY: so many commands, each with another number of processes
    local n
    for ((n = 0; n < $2; n++)); do
        compare "${counts[$((runs % 5))]}" "$1" ${commands[$((runs % 9))]}
    done
}

each_with_all() { # INPUT
    local count command
    for command in "${commands[@]}"; do
        for count in "${counts[@]}"; do compare "$count" "$1" $command; done
    done
}

try() { # INPUT HOW_MANY
    if [ -n "${PUG_CLUSTER_ALL:-}" ]; then each_with_all "$1"; else turns "$1" "$2"; fi
}

damaged() { # FOLDER SEED
    rm -rf "$tmp/damaged"
    cp -rL "$1" "$tmp/damaged"
    for trace in "$tmp/damaged"/trace*.bin; do
        perl "$source/tests/support/damage.pl" "$2" 65536 "$trace" "$tmp/bytes"
        mv "$tmp/bytes" "$trace"
    done
    try "$tmp/damaged" 1
}

own() {
    local seed=1
    for folder in "$source"/tests/captures/*/; do
        try "${folder%/}" 1
        if ((seed % 3 == 0)) || [ -n "${PUG_CLUSTER_ALL:-}" ]; then damaged "${folder%/}" $seed; fi
        seed=$((seed + 1))
    done
}

of_shared() {
    [ -d "$shared/captures" ] || { echo "$shared/captures is not there"; exit 77; }
    for ini in "$shared"/captures/*/snapshot.ini; do try "$(dirname "$ini")" 1; done
    for file in "$shared"/perfdata/*/*.data; do try "$file" 2; done
}

case ${PUG_PART:-own} in
    own) own ;;
    shared) of_shared ;;
esac
[ $runs -gt 0 ]
echo "$runs runs on many processes gave what one gives"
