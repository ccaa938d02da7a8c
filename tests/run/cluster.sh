#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark-mpi on 1, 2, 3, 5 and 8 processes prints what pugmark prints, on standard output, on standard
# error and as exit code, and writes the same files; of whole captures and of damaged ones. Pieces are far
# too small, so that processes take over from each other often. PUG_CLUSTER_ALL=1: every command with every
# number; else they take turns. Skipped (77) without MPI.
set -eu
bin=$1 source=$2
. "$source/tests/support/mpi.sh"
. "$source/tests/support/every_input.sh"
shared=$source/../shared
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
counts=(2 3 5 8 1)
commands=(list "stat --json" "profile --format autofdo" "index --rebuild --elements --block 4096 -o $tmp/index" "coverage --format json"
    pc "profile --format folded" "list --format csv --packets" "profile -o $tmp/index")
runs=0 bad=
resumes=0

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

# Copies, one below the other in a list: an index is written beside its trace. A third of the snapshots are damaged.
# (Which perf.data can still be opened pugmark asks of all before it begins, pugmark-mpi of each.)
copies() { # INPUT...
    local input n=0
    mkdir -p "$tmp/inputs"
    for input; do
        n=$((n + 1))
        if ((n % 3 == 0)) && [ -d "$input" ]; then
            damaged_copy "${input%/}" $n "$tmp/inputs/$n" 65536
        else
            cp -rL --no-preserve=mode "${input%/}" "$tmp/inputs/$n"
            echo "$tmp/inputs/$n"
        fi
    done >"$tmp/list"
}

# Each command, of all inputs in the list.
of_list() {
    local command n=0 turn
    while read -r command; do
        turn=${counts[n++ % 5]}
        if [ -n "${PUG_CLUSTER_ALL:-}" ]; then turn=${counts[*]}; fi
        with_every_input "$turn" $command </dev/null
    done
    [ -z "$bad" ]
}

own() {
    turns "$source/examples/demo" 5
    copies "$source"/tests/captures/*/ "$source"/examples/{demo,crash}
    of_list <<END
pc
list --format csv --packets
profile --stacks -o $tmp/sum
index --rebuild --elements --block 4096
END
    many_inputs
    one_file
    killed
    traffic
    unlike
    shared_out
    resumed
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
    for round in first again other; do # the same, with what was done kept; then another command
        rm -f "$tmp/sum.many" "$tmp/sums/000003.profile"
        local command=(profile -o "$tmp/sum.many")
        if [ $round = other ]; then
            command=(profile --stacks -o "$tmp/sum.many")
            "$bin/pugmark" profile --stacks -o "$tmp/sum.one" $(sed 2d "$list") 2>"$tmp/err.one"
        fi
        code=0
        mpi 3 "$bin/pugmark-mpi" --resume "$tmp/sums" --traffic --large 20000 --piece 1024 --block 64 "${command[@]}" "@$list" 2>"$tmp/err.many" || code=$?
        same "many inputs, added up, $round: another sum" "$tmp/sum.one" "$tmp/sum.many"
        [ $code = 3 ] && grep -q '/nowhere/trace: No such file' "$tmp/err.many" || differ "many inputs, added up, $round: exit code $code"
        case $round in
            again) [ "$(bytes_read "$tmp/err.many")" = 0 ] ;;
            *) [ "$(bytes_read "$tmp/err.many")" -gt 20000 ] ;;
        esac || differ "many inputs, added up, $round: what was done was done again"
    done
}

# With --output all processes write one file.
one_file() {
    "$bin/pugmark" list "$source/tests/captures/ptm-arm" >"$tmp/out.one"
    mpi 5 "$bin/pugmark-mpi" --piece 1024 --block 64 --output "$tmp/file" list "$source/tests/captures/ptm-arm"
    same "one file of 5 processes" "$tmp/out.one" "$tmp/file"
}

# Processes may have more or fewer threads: of a long trace each takes its share.
unlike() {
    local program="$bin/pugmark-mpi --traffic stat --json --jobs" input=$tmp/unlike size
    repeated unlike 131072 # of 18 pieces: that of one thread may read three into the part of the other
    size=$(stat -c %s "$input/trace.bin")
    "$bin/pugmark" stat --json "$input" >"$tmp/out.one"
    mpi 1 $program 1 "$input" : -n 1 $program 3 "$input" >"$tmp/out.many" 2>"$tmp/err.many"
    without_time "$tmp/out.one"
    without_time "$tmp/out.many"
    same "processes with different numbers of threads" "$tmp/out.one" "$tmp/out.many"
    sed -n 's/.*; read \([0-9]*\) bytes of trace/\1/p' "$tmp/err.many" | awk -v size="$size" '{n++; if ($1 > size * 0.75) bad = 1}
        END {exit n != 2 || bad}' || { cat "$tmp/err.many"; differ "one process decoded nearly all of $size bytes"; }
    rm -rf "$input"
}

# What a join needs is little, however long the trace is.
traffic() {
    mpi 4 "$bin/pugmark-mpi" --traffic --piece 8192 --block 512 stat --jobs 1 "$tmp/long" >/dev/null 2>"$tmp/err.many"
    sed -n 's/.*sent [0-9]* messages, \([0-9]*\) bytes.*/\1/p' "$tmp/err.many" | awk '{n++; if ($1 >= 100000) bad = 1}
        END {exit n != 4 || bad}' || { cat "$tmp/err.many"; differ "joins send too much"; }
}

# Two processes can be 1.8 times as fast as one only if none has more than 55 percent of the work: bytes read, by a process as by
# the slowest, need no clock. An index is read twice, for marks and for elements.
shared_out() {
    local command size passes=1 input=$tmp/long
    for command in stat list "list --packets --elements --format jsonl" "profile --format autofdo" "profile --stacks" \
        "index --rebuild --elements --block 4096 -o $tmp/index"; do
        case $command in index*) # whose pieces are of 16 blocks, and three of them may be read ahead
            passes=2 input=$tmp/longer
            repeated longer 32768
            ;;
        esac
        size=$((passes * $(stat -c %s "$input/trace.bin")))
        mpi 2 "$bin/pugmark-mpi" --traffic --output "$tmp/file" --piece 8192 --block 512 $command --jobs 1 "$input" >/dev/null 2>"$tmp/err.many"
        sed -n 's/.*; read \([0-9]*\) bytes of trace/\1/p' "$tmp/err.many" | awk -v size="$size" '{n++; if ($1 > size * 0.55) bad = 1}
            END {exit n != 2 || bad}' || { cat "$tmp/err.many"; differ "$command: $size bytes are not cut in halves"; }
    done
    rm -rf "$tmp/index" "$tmp/file" "$tmp/longer"
}

repeated() { # NAME TIMES: the bundled capture, its trace so often
    cp -rL --no-preserve=mode "$source/examples/demo" "$tmp/$1"
    perl -e 'local $/; open my $f, "<:raw", $ARGV[0]; my $b = <$f>; open $f, ">:raw", $ARGV[0]; print $f $b x $ARGV[1]' \
        "$tmp/$1/trace.bin" "$2"
}

process_of() { # NUMBER WORDS: of those processes that were started with these words
    local pid
    for pid in $(pgrep -f -- "$2"); do
        if tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qE "^(OMPI_COMM_WORLD_RANK|PMI_RANK)=$1\$"; then
            echo "$pid"
            return
        fi
    done
}

# Process 1 dies as soon as a condition holds. It is sought before: what it does is done in a moment.
kill_when() { # CONDITION WORDS: of those processes that were started with these words
    local pid=
    for _ in $(seq 2000); do
        if [ -z "$pid" ]; then pid=$(process_of 1 "$2"); fi
        if [ -n "$pid" ] && "$1"; then kill -9 "$pid" 2>/dev/null && return; fi
        sleep 0.005
    done
    return 1
}

has_record() { # of more than $some bytes
    local record
    for record in "$tmp"/keep/*.1.record; do
        [ "$(stat -c %s "$record" 2>/dev/null || echo 0)" -le $some ] || return 0
    done
    return 1
}

has_begun() { # to write what will stand under the name
    local file
    for file in "$tmp"/kept.*; do [ ! -e "$file" ] || return 0; done
    return 1
}

bytes_read() { # FILE: by all processes together
    sed -n 's/.*; read \([0-9]*\) bytes of trace/\1/p' "$1" | awk '{n += $1} END {print n + 0}'
}

# A process dies in the middle of one capture: a second run goes on with what was done, and a third one has nothing to do.
resumed() {
    local command passes some attempt
    repeated cut 4096
    for command in "${commands[@]}"; do
        passes=1 some=2000
        case $command in
            *--packets*) continue ;;
            index*) passes=3 some=800 ;; # marks, elements, and both again where states do not meet
            *autofdo) ;;
            *) [ -n "${PUG_CLUSTER_ALL:-}" ] || continue ;;
        esac
        for attempt in 1 2 3 4 5 6; do
            if resumed_midway; then continue 2; fi
        done
        differ "resume: $command: it always died when all was done"
    done
}

# $command, of which the first process dies; false: all was done by then.
resumed_midway() {
    local size read
    size=$(stat -c %s "$tmp/cut/trace.bin")
    rm -rf "$tmp/keep" "$tmp/index" "$tmp/index.one" "$tmp/file"
    "$bin/pugmark" $command "$tmp/cut" >"$tmp/out.one" 2>"$tmp/err.one"
    if [ -e "$tmp/index" ]; then mv "$tmp/index" "$tmp/index.one"; fi
    local go_on=("$bin/pugmark-mpi" --traffic --piece 8192 --block 512 --resume "$tmp/keep" --every 0)
    if ((resumes++ % 2 == 0)); then go_on+=(--output "$tmp/file"); fi
    kill_when has_record "--resume $tmp/keep" &
    local killer=$! code=0
    mpi 3 "${go_on[@]}" $command --jobs 1 "$tmp/cut" >"$tmp/out.many" 2>&1 || code=$?
    wait $killer || differ "resume: $command: nobody could be killed"
    [ $code != 0 ] || return 1
    if [ -e "$tmp/file" ] || [ -e "$tmp/index" ]; then # it died behind all of its work
        [ ! -e "$tmp/file" ] || same "resume: $command: half of an output" "$tmp/out.one" "$tmp/file"
        [ ! -e "$tmp/index" ] || same "resume: $command: half of a file" "$tmp/index.one" "$tmp/index"
        return 1
    fi
    for round in second third; do
        rm -f "$tmp/index" "$tmp/file"
        code=0
        mpi 3 "${go_on[@]}" $command --jobs 1 "$tmp/cut" >"$tmp/out.many" 2>"$tmp/err.many" || code=$?
        [ $code = 0 ] || differ "resume: $command: the $round run ended with $code"
        if [ -e "$tmp/file" ]; then mv "$tmp/file" "$tmp/out.many"; fi
        without_time "$tmp/out.one"
        without_time "$tmp/out.many"
        same "resume: $command: the $round run has another output" "$tmp/out.one" "$tmp/out.many"
        if [ -e "$tmp/index.one" ]; then same "resume: $command: the $round run has another file" "$tmp/index.one" "$tmp/index"; fi
        read=$(bytes_read "$tmp/err.many")
        case $round in
            second)
                [ "$read" -gt 0 ] || return 1
                [ "$read" -lt $((passes * size)) ] ;;
            third) [ "$read" = 0 ] ;;
        esac || differ "resume: $command: the $round run read $read bytes of $size"
    done
}

# A process that is killed ends the others; what stood under the name stands there still.
killed() {
    local code=0
    repeated long 2048
    echo before >"$tmp/kept"
    kill_when has_begun "--output $tmp/kept list" &
    local killer=$!
    mpi 2 "$bin/pugmark-mpi" --output "$tmp/kept" list --jobs 1 "$tmp/long" >"$tmp/out" 2>&1 || code=$?
    wait $killer || differ "a killed process: nobody could be killed"
    [ $code != 0 ] && [ "$(cat "$tmp/kept")" = before ] || differ "a killed process: exit code $code"
    grep -q -i -e 'signal 9' -e killed "$tmp/out" || { cat "$tmp/out"; differ "a killed process: nobody says so"; }
}

of_shared() {
    local some=() seed=0 input
    [ -d "$shared/captures" ] || { echo "$shared/captures is not there"; exit 77; }
    for input in "$shared"/captures/*/ "$shared"/perfdata/*/*.data; do
        seed=$((seed + 1))
        if ((seed % 3 == 0)) || [ -n "${PUG_CLUSTER_ALL:-}" ]; then some+=("$input"); fi
    done
    copies "${some[@]}"
    of_list <<END
list --packets --elements
pc
profile --format folded
index --rebuild --elements --block 4096
END
}

# By hand (PUG_PART=all): every capture, vector and perf.data file, whole and damaged, in one run for each command and number
# of processes, in which each input is cut among all of them. PUG_COMMANDS (commands that match it) and PUG_COUNTS choose.
one_by_one() { # COMMAND...: what pugmark says of each input
    local input
    while read -r input; do "$bin/pugmark" "$@" "$input" || true; done <"$tmp/list"
}

# What a command writes beside its output: one file for all that is added up, or an index beside each trace.
written() { # WHERE TO
    rm -rf "$2"
    mkdir "$2"
    if [ -e "$tmp/sum" ]; then mv "$tmp/sum" "$2"; fi
    (cd "$1" && find . -name '*.pugindex') | while read -r index; do
        mkdir -p "$2/${index%/*}"
        mv "$1/$index" "$2/$index"
    done
}

# How far evidence of a wrong program goes depends on blocks, which are far smaller here where inputs are cut: two processes
# tell what is evident, and pugmark all the rest.
without_evidence() { # FROM TO
    grep -v -e 'the program does not match the trace: ' -e ': something is wrong:$' "$1" >"$2" || true
}

same_messages() { # PROCESSES WHAT
    local one=$tmp/err.one many=$tmp/err.many
    if [ "$1" != 1 ] && [ -e "$tmp/err.several" ]; then # what several told before
        one=$tmp/err.several
    elif [ "$1" != 1 ]; then
        cp "$many" "$tmp/err.several"
        one=$tmp/err.one.rest many=$tmp/err.many.rest
        without_evidence "$tmp/err.one" "$one"
        without_evidence "$tmp/err.many" "$many"
    fi
    cmp "$one" "$many" || worse "$2: $1 processes: other messages" "$one" "$many"
}

with_every_input() { # COUNTS COMMAND...
    local count counts=$1 words=("${@:2}" --jobs 1)
    shift
    rm -f "$tmp/err.several"
    case $1 in
        profile | coverage) "$bin/pugmark" "${words[@]}" $(cat "$tmp/list") >"$tmp/out.one" 2>"$tmp/err.one" || true ;;
        *) one_by_one "${words[@]}" >"$tmp/out.one" 2>"$tmp/err.one" ;;
    esac
    written "$tmp/inputs" "$tmp/one"
    without_time "$tmp/out.one"
    for count in $counts; do
        mpi "$count" "$bin/pugmark-mpi" --large 1 --piece 1024 --block 64 "${words[@]}" "@$tmp/list" >"$tmp/out.many" 2>"$tmp/err.many" || true
        quiet_mpi "$tmp/err.many"
        without_time "$tmp/out.many"
        written "$tmp/inputs" "$tmp/many"
        cmp "$tmp/out.one" "$tmp/out.many" || worse "$*: $count processes: another output"
        same_messages "$count" "$*"
        diff -r "$tmp/one" "$tmp/many" || worse "$*: $count processes: other files"
        runs=$((runs + $(wc -l <"$tmp/list")))
        echo "$*: $count processes: $(wc -l <"$tmp/list") inputs, $(wc -c <"$tmp/out.one") bytes, $(find "$tmp/one" -type f | wc -l) files"
    done
}

worse() { # WHAT [FILES]: goes on all the same
    bad=yes
    echo "$1"
    [ $# = 1 ] || diff "$2" "$3" | head -4
}

all_at_once() {
    local command
    every_input "$tmp/inputs" | grep -E "${PUG_INPUTS:-.}" >"$tmp/list"
    while read -r command; do with_every_input "1 2 ${PUG_COUNTS:-3 5 8}" $command </dev/null; done < <(grep -E "${PUG_COMMANDS:-.}" <<END
pc
pc --by-thread
stat --json
stat --packets --json
list --format csv
list --format jsonl
list --time 0,
list --packets
list --packets --elements
list --packets --format jsonl
profile -o $tmp/sum
profile --stacks -o $tmp/sum
profile --format autofdo
coverage --format json
index --rebuild
index --rebuild --full --elements --block 4096
END
    )
    [ -z "$bad" ]
}

case ${PUG_PART:-own} in
    all) all_at_once ;;
    own) own ;;
    shared) of_shared ;;
esac
[ $runs -gt 0 ]
echo "$runs runs on many processes gave what one gives"
