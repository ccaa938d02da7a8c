#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every fuzz target: its corpus, and a bounded number of inputs of its own; the sanitizer build makes it sharp.
set -u
bin=$1 source=$2 bad=0
[[ -e $bin/fuzz_tree ]] || { echo "skipped: no fuzz targets in this build"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
run() {
    local name=$1
    shift
    said=$("$bin/$name" "$@" 2>&1) || { echo "$name $*: $(tail -c 2000 <<<"$said")"; bad=1; }
}
for target in "$bin"/fuzz_*; do
    name=${target##*/} count=50
    case $name in
    fuzz_tree | fuzz_text | fuzz_elements) count=500 ;;
    fuzz_trace_etrace_rv64_options | fuzz_perfdata | fuzz_index) count=30 ;;
    esac
    run "$name" $count 1
    if [[ -e $source/fuzz/corpus/$name.tgz ]]; then
        "$source/fuzz/unpack.sh" "$name" "$work/corpus"
        run "$name" "$work/corpus"
    fi
done
exit $bad
