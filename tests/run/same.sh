#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two builds write the same: standard output, files and exit codes of each command, over the bundled captures,
# those beside the project, and a damaged copy of each.
#   same.sh OLD NEW [INPUT...]    folders of programs; INPUT: only these, as they are
#   SAME_JOBS="1 2" SAME_RANKS="" tests/run/same.sh ...    fewer threads (default: 1 2 3 8), no ranks (default: 2 5)
# The old build runs on one thread, and as the new one did only where the new one gave something else.
# Words of standard error, --help and info may differ: those are not compared. CTest does not run this script.
set -eu
old=$(realpath "${1:?usage: same.sh OLD NEW [INPUT...]}")
new=$(realpath "${2:?usage: same.sh OLD NEW [INPUT...]}")
shift 2
source=$(realpath "$(dirname "$0")/../..")
shared=$source/../shared
read -ra jobs <<<"${SAME_JOBS-1 2 3 8}"
read -ra ranks <<<"${SAME_RANKS-2 5}"
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
# shellcheck source=../support/every_input.sh
. "$source/tests/support/every_input.sh"
if [[ -x $old/pugmark-mpi && -x $new/pugmark-mpi ]]; then
    bin=$new
    # The check of MPI leaves with 77 where it is missing: try it apart.
    # shellcheck source=../support/mpi.sh
    if (. "$source/tests/support/mpi.sh"); then . "$source/tests/support/mpi.sh"; else ranks=(); fi
else
    ranks=()
fi

# Each line is a command. FILE stands for a file or folder that it writes.
commands() {
    cat <<'END'
list
list --packets --elements
list --format jsonl --packets --elements
list --format csv
list --by-time
list --reference
list --from 1000 --to 9000
list --around 5000 --count 9
pc
calls
calls --summary
calls --by-time
trace --format text
trace --format jsonl --last 100
trace --ranges
find --sync
find --trace-on
find --exception 3
find --elapsed 100
itm
profile
profile --json --stacks
profile --output FILE
profile --format callgrind --output FILE
profile --format folded
profile --format autofdo --output FILE
profile --format pprof --output FILE
coverage
coverage --format lcov
coverage --format json
timeline --output FILE
timeline --format chrome
timeline --format speedscope
index --output FILE
index --full --elements --output FILE
END
}

# Runs a program on INPUT; puts standard output, files and the exit code into OUT.
run() { # OUT INPUT WORDS... -- PROGRAM...
    local out=$1 input=$2 words=() code=0
    shift 2
    while [[ $1 != -- ]]; do words+=("${1/FILE/$out/file}") && shift; done
    shift
    rm -rf "$out" && mkdir "$out"
    (cd "$out" && "$@" "${words[@]}" --quiet "$input" >"$out/stdout" 2>"$tmp/stderr") || code=$?
    # an older build's commands may not know --quiet
    if ((code == 2)) && grep -q -e --quiet "$tmp/stderr"; then
        code=0
        rm -rf "$out" && mkdir "$out"
        (cd "$out" && "$@" "${words[@]}" "$input" >"$out/stdout" 2>"$tmp/stderr") || code=$?
    fi
    echo $code >"$out/code"
}

differ() { # WHAT
    echo "$1" >>"$tmp/different"
    echo "differs: $1"
    diff -rq "$tmp/was" "$tmp/is" || true
}

compare() { # INPUT WORDS...
    local input=$1 n
    shift
    run "$tmp/first" "$input" "${@:2}" -- "$old/pugmark" "$1" --jobs 1
    for n in "${jobs[@]}"; do
        run "$tmp/is" "$input" "${@:2}" -- "$new/pugmark" "$1" --jobs "$n"
        diff -rq "$tmp/first" "$tmp/is" >/dev/null && continue
        run "$tmp/was" "$input" "${@:2}" -- "$old/pugmark" "$1" --jobs "$n"
        diff -rq "$tmp/was" "$tmp/is" >/dev/null || differ "$input: $* with $n threads"
    done
    for n in "${ranks[@]}"; do
        run "$tmp/is" "$input" "${@:2}" -- mpi "$n" "$new/pugmark-mpi" "$1" --jobs 1
        diff -rq "$tmp/first" "$tmp/is" >/dev/null && continue
        run "$tmp/was" "$input" "${@:2}" -- mpi "$n" "$old/pugmark-mpi" "$1" --jobs 1
        diff -rq "$tmp/was" "$tmp/is" >/dev/null || differ "$input: $* on $n ranks"
    done
    count=$((count + 1))
    [[ ! -s $tmp/first/stdout && ! -e $tmp/first/file ]] || spoke=$((spoke + 1))
}

count=0 spoke=0
if (($#)); then
    inputs=("$@")
else
    mapfile -t inputs < <(every_input "$tmp/inputs")
fi
for input in "${inputs[@]}"; do
    input=$(realpath "$input")
    while read -ra words; do compare "$input" "${words[@]}" </dev/null; done < <(commands)
done
echo "$count commands on ${#inputs[@]} inputs; $spoke wrote something"
((spoke > 0)) || { echo "nothing was compared"; exit 1; }
[[ ! -s $tmp/different ]] || { echo "$(wc -l <"$tmp/different") differ"; exit 1; }
