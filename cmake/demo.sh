#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh BUILD: what `make demo` shows. A program read settings and crashed while its core was traced.
set -eu
cd "$(dirname "$0")/../examples"
build=$1
case $build in /*) ;; *) build=../$build ;; esac
pugmark=$build/bin/pugmark
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ pugmark %s\n' "$*"; "$pugmark" "$@"; }
shown() { # LINES COMMAND...: the last of what it says
  count=$1
  shift
  printf '$ pugmark %s\n' "$*"
  "$pugmark" "$@" >"$work/all"
  tail -n "$count" "$work/all"
}

say "What the capture holds: one core, one trace unit, and the program: examples/crash/crash.c."
run info crash | sed -n 1,11p

say "The trace itself. An atom packet says E for each branch that was taken, N for each that was not;
an address packet says where an indirect branch went; the rest is in the program."
run list --packets crash | sed -n 8,16p

say "What did the program do before it crashed? The functions that ran, with the times that the trace has:"
shown 16 calls crash

say "The last instructions before the fault, with their source lines. The number of a line was read, and
read_line() was to add it to a setting, which find() had looked for among all names in vain:"
shown 13 trace --no-pager --last 12 --before exception crash

say "The path was known when the capture was made. Is what was decoded what ran?"
run pc crash --verify crash/path

say "The same trace with another build of the program, in which the crash is mended: that is found out."
cp -r crash "$work/other"
cp crash/crash.mended "$work/other/crash"
printf '$ pugmark pc other\n'
if "$pugmark" pc "$work/other" 2>&1 >"$work/wrong.pc" | sed "s|$work/||" >"$work/wrong"; then :; fi
grep -A1 'something is wrong' "$work/wrong"
grep -q 'the program does not match the trace' "$work/wrong"

say "A page to look at: flame graph, functions, code, timeline."
run report crash -o "$build/demo.html"
echo "... $(cd "$build" && pwd)/demo.html, $(($(wc -c <"$build/demo.html") / 1024)) KB"
