#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command gives the same output and the same messages on any number of threads: on the bundled
# capture repeated until it is long, whole and damaged, and on shared captures repeated likewise.
set -eu
bin=$1 source=$2
shared=$source/../shared/captures turn=0
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"

repeat() { # FILE BYTES: the file again and again until it has at least so many bytes
    while (($(stat -c %s "$1") < $2)); do cat "$1" "$1" >"$tmp/twice" && mv "$tmp/twice" "$1"; done
}

compare() { # FOLDER COMMAND...
    local folder=$1 code jobs
    shift
    for jobs in 1 2 $(((turn += 1) % 2 ? 3 : 8)); do
        code=0
        "$bin/pugmark" "$@" --jobs $jobs "$folder" >"$tmp/out$jobs" 2>"$tmp/err$jobs" || code=$?
        echo "exit $code" >>"$tmp/err$jobs"
        cmp -s "$tmp/out1" "$tmp/out$jobs" && cmp -s "$tmp/err1" "$tmp/err$jobs" || {
            echo "$(basename "$folder"): pugmark $*: $jobs threads give something else than one"
            exit 1
        }
    done
}

all_commands() { # FOLDER
    compare "$1" list
    [[ -s $tmp/out1 ]]
    compare "$1" list --format csv --from 100000 --to 400000
    compare "$1" pc
    compare "$1" calls
}

own() {
    cp -r "$source/examples/demo" "$tmp/demo"
    repeat "$tmp/demo/trace.bin" 600000
    all_commands "$tmp/demo"
    # holes and wrong bytes, at places that are not the same in any two pieces
    for at in 1000 77777 131072 140001 262143 300000 400016; do
        printf '\x5a\x00\xff\x13\x80' | dd of="$tmp/demo/trace.bin" bs=1 seek=$at conv=notrunc status=none
    done
    all_commands "$tmp/demo"
    counted "$tmp/demo" 1 3
    alone
    for capture in "$source"/tests/captures/*/; do
        rm -rf "$tmp/capture" && cp -r "$capture" "$tmp/capture"
        counted "$tmp/capture" 1 2
        printf '\x5a\x00\xff\x13\x80' | dd of="$tmp/capture/trace.bin" bs=1 seek=9001 conv=notrunc status=none
        counted "$tmp/capture" 1 2
    done
    repeat "$tmp/demo/trace.bin" $((16 << 20))
    counted "$tmp/demo" 2 3
}

counted() { # FOLDER JOBS...: one thread counts ranges, as several do in a long trace; else they come as elements
    local folder=$1 jobs first=$2
    shift
    for jobs; do
        "$bin/pugmark" stat --json --jobs "$jobs" "$folder" >"$tmp/out" 2>"$tmp/err$jobs" || true
        sed 's/"seconds": [^,]*//' "$tmp/out" >"$tmp/out$jobs"
        [[ -s $tmp/out$jobs ]]
        cmp -s "$tmp/out$first" "$tmp/out$jobs" && cmp -s "$tmp/err$first" "$tmp/err$jobs" || {
            echo "$(basename "$folder"): pugmark stat: $jobs threads count something else than $first"
            exit 1
        }
    done
}

alone() { # with --jobs 1 no command starts a thread
    local shim count command
    shim=$(dirname "$bin")/tests/fault_shim.so
    [[ -e $shim ]] || return 0
    for command in list pc calls timeline profile "profile --stacks" coverage "trace --last 9" stat index find; do
        case $command in
        find) set -- find --sync ;;
        index) set -- index --rebuild --output "$tmp/made" ;;
        timeline) set -- timeline --output "$tmp/made" ;;
        *) read -ra words <<<"$command" && set -- "${words[@]}" ;;
        esac
        env LD_PRELOAD="$shim" FAULT_KIND=thread FAULT_AT=0 FAULT_COUNT="$tmp/count" \
            "$bin/pugmark" "$@" --quiet --jobs 1 "$tmp/demo" >/dev/null 2>&1 || true
        count=$(cat "$tmp/count")
        ((count == 0)) || { echo "pugmark $* --jobs 1: $count threads"; exit 1; }
    done
}
if [[ ${PUG_PART-} != shared ]]; then own; fi
[[ ${PUG_PART-} != own ]] || exit 0
[[ -d $shared ]] || { echo "skipped: no captures at $shared"; exit 77; }
while read -r name file size; do
    cp -r "$shared/$name" "$tmp/$name"
    chmod -R u+w "$tmp/$name"
    repeat "$tmp/$name/$file" "$size"
    compare "$tmp/$name" list
    compare "$tmp/$name" pc
done <<'END'
juno_r1_1 cstrace.bin 400000
TC2 cstrace.bin 400000
a55-test-tpiu DSTREAM_0.bin 400000
stm_only cstraceitm.bin 300000
trace_file_cid_vmid session1.bin 300000
itm_only_raw itm_testdata.bin 300000
END
