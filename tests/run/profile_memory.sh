#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Memory is bounded by the program, not by the trace: a recording that is larger than the memory that
# counting it may take gives the counts of the short one, so many times.
#   profile_memory.sh BIN SOURCE
set -eu
bin=$1 data=$2/../shared/perfdata/paw times=12000
[[ -e $data/thread-v1.data ]] || { echo "skipped: no $data"; exit 77; }
[[ -x $bin/perf_repeat ]] || { echo "skipped: no perf_repeat"; exit 77; }
if grep -aqE '__[at]san_init' "$bin/pugmark"; then
  echo "skipped: sanitizers take all memory there is"
  exit 77
fi
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
"$bin/perf_repeat" "$data/thread-v1.data" long.data "$times"
[[ $(stat -c %s long.data) -gt 67600000 ]]
profile() { "$bin/pugmark" profile --quiet --symfs "$data/root" --dso libpaw.so "$@"; }
profile --format bolt "$data/thread-v1.data" | awk -v times="$times" '{$4 *= times; print}' >want
# glibc's threads would ask for an arena each of their own, again with each allocation, where there is no room for one.
export MALLOC_ARENA_MAX=1
for jobs in 1 2; do
  (ulimit -v 66000 && profile --format bolt --jobs "$jobs" long.data) >got
  cmp want got || { echo "--jobs $jobs: other counts"; exit 1; }
done
(ulimit -v 66000 && "$bin/pugmark" coverage --quiet --symfs "$data/root" --jobs 1 --format lcov long.data) >coverage
grep -q "^DA:[0-9]*,[1-9][0-9]*000$" coverage
