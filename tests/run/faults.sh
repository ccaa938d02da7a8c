#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each allocation and each system call of a command fails in turn (tests/faults): no crash, the right exit code, a message,
# never wrong output as a success, never half a file under its final name. A share of the calls; FAULTS=all: every one.
# FAULTS_OF: only of commands that match this expression; FAULTS_KINDS: only these calls.
set -u
bin=$1 source=$2 bad=0
shim=$(dirname "$bin")/tests/fault_shim.so
unset GLIBC_TUNABLES # limits are on memory
[[ -e $shim ]] || { echo "no tests/fault_shim.so in this build"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$source/examples/demo" "$work/demo"
cp -r "$source/tests/captures/ntrace-rv64" "$work/ntrace"
cp -r "$source/tests/captures/etmv4-a64-broadcast" "$work/many"
cp -r "$source/fuzz/captures/itm" "$work/itm"
cp -r "$source/fuzz/captures/stm" "$work/stm"
cp -r "$source/examples/crash" "$work/crash"
cp "$source/tests/captures/etmv4-a64/path" "$work/path"
cd "$work" || exit 1
cp -r crash gone
"$bin/pugmark" profile --output two gone
rm -r gone
cp -r demo gone
"$bin/pugmark" profile --output one gone
rm -r gone
"$bin/pugmark" record --quiet --from crash/path --protocol etmv4 --perf recorded.data
printf 'packet 0 0 1f\nidle 2\n' >lines
printf 'at 5\nwrite 1 4 77\ntext 1 "paw"\n' >events
share=${FAULTS_SHARE:-1} many=30 limits='1500 2500 3500 4000 4500 6000 10000 14000 24000'
[[ ${FAULTS:-} == all ]] &&
    share=0 many=0 limits='1500 2000 2500 3000 3500 3750 4000 4250 4500 5000 6000 8000 10000 11000 12000 14000 18000 24000 40000'
runs=0
wrong() { echo "$*"; bad=1; }

faults() { # COMMAND…: each of its calls fails, or a share of them
    local kinds=${kinds:-${FAULTS_KINDS:-memory open read write stat map rename thread sync close}}
    [[ $* =~ ${FAULTS_OF:-} ]] || return
    LD_PRELOAD=$shim FAULT_TURNS=$* FAULT_KINDS=$kinds FAULT_SHARE=$share "$bin/$1" "${@:2}" >report || bad=1
    cat report
    [[ $(tail -n 1 report) =~ ([0-9]+)\ runs$ ]] && runs=$((runs + BASH_REMATCH[1])) || wrong "$*: it was not run with faults"
}

faults pugmark list demo
faults pugmark list --jobs 2 --format jsonl many
faults pugmark list --packets ntrace
share=0 kinds=memory faults pugmark pc demo # each allocation of one command, in every run
kinds='open read write stat map rename thread sync close' faults pugmark pc demo
share=$many kinds=memory faults pugmark info demo
kinds='open read write stat map rename thread sync close' faults pugmark info demo
faults pugmark calls demo
faults pugmark trace --ranges --last 20 demo
faults pugmark trace --last 20 demo
faults pugmark trace --jobs 2 --last 20 demo
faults pugmark profile --output made demo
faults pugmark profile --format folded demo
faults pugmark profile --format callgrind crash
faults pugmark profile --format pprof crash
faults pugmark timeline --output made demo
faults pugmark report --output made demo
faults pugmark index --rebuild --output made demo
faults pugmark list --by-time many
faults pugmark pc --by-thread many
faults pugmark pc --by-thread --symdir crash recorded.data
faults pugmark info --symdir crash recorded.data
faults pugmark calls --symdir crash recorded.data
faults pugmark timeline --output made --symdir crash recorded.data
faults pugmark profile --output made --symdir crash recorded.data
faults pugmark profile --format folded --symdir crash recorded.data
faults pugmark stat --json demo
faults pugmark find --sync demo
faults pugmark itm itm
faults pugmark coverage --format lcov --output made crash
faults pugmark merge --output made one two
# (Programs that cannot be opened are like those that are not there, and here none is: places are addresses.)
faults pugmark diff one two
faults pugmark timeline --format ctf --output made demo
faults pugmark encode --output made lines
faults pugmark record --quiet --from path --protocol etmv4 --limit 5000 --perf made
faults pugmark record --quiet --from path --protocol etmv4 --limit 5000 --out made
faults pugmark record --quiet --script events --protocol itm --out made
faults trc_pkt_lister -ss_dir demo -decode -logstdout
faults trc_pkt_lister -ss_dir stm -decode -logstdout

# Real limits on memory, in KB of data: what there is without, or an error that says so.
limited() { kinds=$limits faults "$@"; } # COMMAND…
limited pugmark list demo
limited pugmark pc demo
limited pugmark trace --last 30 demo
limited pugmark trace --jobs 2 demo
limited pugmark calls crash
limited pugmark trace --last 30 crash
limited pugmark profile --format folded crash
limited pugmark coverage --format lcov crash
limited pugmark report --output - crash
limited pugmark timeline --output - crash
limited pugmark info crash
limited pugmark calls --symdir crash recorded.data
limited pugmark profile --format folded --symdir crash recorded.data
limited pugmark info --symdir crash recorded.data
limited pugmark list --jobs 2 --format jsonl many
limited pugmark pc --by-thread --jobs 2 many
echo "$runs runs with faults"
exit $bad
