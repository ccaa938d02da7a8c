#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The bundled captures give back the paths that were recorded, and the demonstration runs.
set -eu
bin=$1 source=$2
crash=$source/examples/crash
"$bin/pugmark" pc "$source/examples/demo" | cmp - "$source/examples/demo/path.txt"
"$bin/pugmark" pc "$crash" --verify "$crash/path"
"$source/cmake/demo.sh" "$bin/.." >/dev/null

# The three commands in README.md answer: where it was, and what came before.
"$bin/pugmark" calls "$crash" | tail -n 3 | grep -q 'on_fault();  /\* the trace ends in it \*/'
"$bin/pugmark" calls "$crash" | grep -q ' read_line() {$'
"$bin/pugmark" trace "$crash" --last 20 --before exception >"$bin/../demo.trace"
tail -n 1 "$bin/../demo.trace" | grep -q '^-- exception 12 (data fault), returns to '
grep -q 'number+0x38' "$bin/../demo.trace"
if "$bin/pugmark" --version | head -n 1 | grep -qw dwarf; then
  grep -q "crash.c:$(grep -n 'value = value \* 10' "$crash/crash.c" | cut -d: -f1)\$" "$bin/../demo.trace"
fi

# With another build of the program each of them says so.
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cp -r "$crash" "$work/crash"
mv "$work/crash/crash.mended" "$work/crash/crash"
for command in info calls "trace --last 20 --before exception" "report -o $work/page"; do
  code=0
  # shellcheck disable=SC2086
  "$bin/pugmark" $command "$work/crash" >/dev/null 2>"$work/said" || code=$?
  [[ $code == 1 ]] && grep -q 'the program does not match the trace: ' "$work/said" && continue
  echo "$command, of another build: $code"
  cat "$work/said"
  exit 1
done
[[ $("$bin/pugmark" info "$crash" 2>&1 >/dev/null) == "" ]]

# A reader that goes away is no error.
"$bin/pugmark" pc "$source/examples/demo" | head -n 1 >/dev/null
[[ ${PIPESTATUS[0]} == 0 ]]
