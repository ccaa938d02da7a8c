#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What tries the commands on damaged inputs (fuzz/million.sh) sees what it is to see: each fault that is planted in a
# command is found where it is, and nothing else is. Sanitizers see more of them.
#   million.sh BIN SOURCE
set -u
bin=$1
[[ -e $bin/million_planted ]] || { echo "skipped: no million_planted in this build"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
export ASAN_OPTIONS=exitcode=99:allocator_may_return_null=1 UBSAN_OPTIONS=exitcode=99
kinds=(crash hang memory difference descriptor file code)
grep -aq __asan_init "$bin/million_planted" && kinds+=(overflow undefined leak)
bad=0
# Static variables are set back after each run: those of sanitizers that are in the program would be, too.
if [[ ${#kinds[@]} -gt 7 ]]; then
    for program in "$bin"/million_*; do
        ldd "$program" | grep -q asan || { echo "${program##*/}: the sanitizers are in it, whose variables are set back, too"; bad=1; }
    done
fi
mkdir -p "$work/subjects/one"
echo "some trace that is damaged" >"$work/subjects/one/trace.bin"
"$bin/million_planted" "$work/subjects" 0 40 >"$work/said" 2>"$work/err"
[[ -e $work/subjects/one/.temporary ]] && rm "$work/subjects/one/.temporary"
for kind in "${kinds[@]}"; do
    grep -qE "^seed [0-9]+, [^ ]+ $kind " "$work/said" || { echo "$kind is not found"; bad=1; }
done
for kind in "${kinds[@]}"; do sed -i "/^seed [0-9]*, [^ ]* $kind /d" "$work/said"; done
grep '^seed' "$work/said" && { echo "found where nothing is"; bad=1; }
cmp -s "$work/subjects/one/trace.bin" <(echo "some trace that is damaged") || { echo "the input is not as it was"; bad=1; }
tail -1 "$work/said"
exit $bad
