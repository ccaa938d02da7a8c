#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every fuzz target: its corpus, and a bounded number of inputs of its own; the sanitizer build makes it sharp.
set -u
bin=$1 source=$2 bad=0
run() {
    local name=$1
    shift
    said=$("$bin/$name" "$@" 2>&1) || { echo "$name $*: ${said: -2000}"; bad=1; }
}
for target in "$bin"/fuzz_*; do
    name=${target##*/} count=150
    case $name in
    fuzz_tree | fuzz_jobs | fuzz_text) count=2000 ;;
    fuzz_trace_etrace_rv64_options | fuzz_perfdata | fuzz_index) count=60 ;;
    esac
    run "$name" $count 1
    [[ -d $source/fuzz/corpus/$name ]] && run "$name" "$source/fuzz/corpus/$name"
done
exit $bad
