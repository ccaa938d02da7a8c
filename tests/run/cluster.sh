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
    many_inputs
    one_file
    if mpirun --version | grep -q "Open MPI"; then
        killed
        traffic
    fi
}

same() { # WHAT: two files
    cmp "$2" "$3" || { echo "$1"; exit 1; }
}

# A list of inputs, one of which is not there: what pugmark says of one after the other.
many_inputs() {
    local list=$tmp/list code=0
    printf '%s\n' "$source"/tests/captures/{ptm,etmv3,ntrace}-*[0-9m] >"$list"
    "$bin/pugmark" profile -o "$tmp/sum.one" $(cat "$list") 2>"$tmp/err.one"
    sed -i '2i /nowhere/trace' "$list"
    for input in $(cat "$list"); do "$bin/pugmark" pc "$input"; done >"$tmp/out.one" 2>"$tmp/err.pc" || true
    mkdir "$tmp/done"
    for round in first again; do
        code=0
        mpi 3 "$bin/pugmark-mpi" --resume "$tmp/done" --output "$tmp/out.many" pc "@$list" 2>"$tmp/err.many" || code=$?
        quiet_mpi "$tmp/err.many"
        same "many inputs, $round: another output" "$tmp/out.one" "$tmp/out.many"
        same "many inputs, $round: other messages" "$tmp/err.pc" "$tmp/err.many"
        [ $code = 3 ] || differ "many inputs, $round: exit code $code"
        rm "$tmp/out.many" "$tmp/done/000003.done"
    done
    [ -e "$tmp/done/000000.done" ]
    code=0
    mpi 2 "$bin/pugmark-mpi" --large 20000 --piece 1024 --block 64 profile -o "$tmp/sum.many" "@$list" 2>"$tmp/err.many" || code=$?
    quiet_mpi "$tmp/err.many"
    same "many inputs, some of them cut: another profile" "$tmp/sum.one" "$tmp/sum.many"
    [ $code = 3 ] && grep -q '/nowhere/trace: No such file' "$tmp/err.many"
}

# With --output all processes write one file.
one_file() {
    "$bin/pugmark" list "$source/tests/captures/ptm-arm" >"$tmp/out.one"
    mpi 5 "$bin/pugmark-mpi" --piece 1024 --block 64 --output "$tmp/file" list "$source/tests/captures/ptm-arm"
    same "one file of 5 processes" "$tmp/out.one" "$tmp/file"
}

# What a join needs is little, however long the trace is.
traffic() {
    mpi 4 "$bin/pugmark-mpi" --traffic --piece 8192 --block 512 stat --jobs 1 "$tmp/long" >/dev/null 2>"$tmp/err.many"
    sed -n 's/.*sent [0-9]* messages, \([0-9]*\) bytes/\1/p' "$tmp/err.many" | awk '{n++; if ($1 >= 100000) bad = 1}
        END {exit n != 4 || bad}' || { cat "$tmp/err.many"; differ "joins send too much"; }
}

# A process that is killed ends the others; what stood under the name stands there still.
killed() {
    local code=0
    cp -rL "$source/examples/demo" "$tmp/long"
    for n in 1 2 3 4 5 6 7 8 9 10 11; do cat "$tmp/long/trace.bin" "$tmp/long/trace.bin" >"$tmp/twice" && mv "$tmp/twice" "$tmp/long/trace.bin"; done
    echo before >"$tmp/kept"
    (
        for _ in $(seq 200); do
            sleep 0.1
            pid=$(pgrep -f -- "--output $tmp/kept list" | xargs -r -n1 sh -c 'grep -qx "OMPI_COMM_WORLD_RANK=1" -z /proc/$0/environ 2>/dev/null && echo $0' | head -1)
            if [ -n "$pid" ]; then kill -9 "$pid" && exit 0; fi
        done
    ) &
    mpi 2 "$bin/pugmark-mpi" --output "$tmp/kept" list --jobs 1 "$tmp/long" >"$tmp/out" 2>&1 || code=$?
    wait
    [ $code != 0 ] && [ "$(cat "$tmp/kept")" = before ] || differ "a killed process: exit code $code"
    grep -q -i -e 'signal 9' -e killed "$tmp/out" || { cat "$tmp/out"; differ "a killed process: nobody says so"; }
}

of_shared() {
    [ -d "$shared/captures" ] || { echo "$shared/captures is not there"; exit 77; }
    local seed=0
    for input in "$shared"/captures/*/ "$shared"/perfdata/*/*.data; do
        seed=$((seed + 1))
        if ((seed % 3 == 0)) || [ -n "${PUG_CLUSTER_ALL:-}" ]; then try "${input%/}" 1; fi
    done
}

case ${PUG_PART:-own} in
    own) own ;;
    shared) of_shared ;;
esac
[ $runs -gt 0 ]
echo "$runs runs on many processes gave what one gives"
