#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# examples/ci: the job passes, and each planted regression fails it by the rule that it breaks.
#   check_ci.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
for tool in clang ld.lld qemu-system-arm; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool here"; exit 77; }
done
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
# job CODE RULES [-DDEFECT]: how the job ends, and the names of the rules that are violated.
job() {
  local code=0 names
  "$source/examples/ci/run.sh" "$pugmark" out "${@:3}" >said 2>&1 || code=$?
  if grep -qE "No available targets|unable to create target|Could not find" said; then
    echo "skipped: this clang makes nothing for Arm"
    exit 77
  fi
  names=$(sed -nE 's/^VIOLATED +[^ ]*: ([a-z]+):.*/\1/p' said | paste -sd' ')
  [[ $code == "$1" && $names == "$2" ]] || { echo "${*:3}: exit $code, violated '$names', not '$2':"; tail -n 30 said; bad=1; }
}
job 0 ''
grep -q 'tests="14" failures="0"' out/junit.xml && grep -q '^SF:.*app.c' out/coverage.info || { echo "no reports"; bad=1; }
job 1 fast -DSLOW
grep -q '<testcase [^>]*name="fast"' out/junit.xml && grep -q '<failure message="a call took 2' out/junit.xml || { echo "junit.xml: $(cat out/junit.xml)"; bad=1; }
job 1 pairs -DFORGET
job 1 depth -DDEEP
job 1 alive -DBROKEN
job 1 covered -DUNTESTED
exit $bad
