#!/bin/sh
# SPDX-License-Identifier: MIT
# demo.sh BUILD: what `make demo` shows. A program sorted twelve numbers while its core was traced.
set -eu
cd "$(dirname "$0")/.."
pugmark=$1/bin/pugmark
demo=examples/demo

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() { printf '$ pugmark %s\n' "$*"; "$pugmark" "$@"; }

say "What the capture holds: one core, one trace unit, a few hundred bytes of trace, the program's memory."
run info $demo

say "The trace itself. An atom packet says E for each branch that was taken, N for each that was not;
an address packet says where an indirect branch went; the rest is in the program."
run list --packets $demo | sed -n 1,16p

say "The same, decoded: each range of instructions that ran, and how it ended (E taken, N not)."
run list $demo | sed -n 1,14p

say "Every instruction, as a debugger would want it. The path was known when the capture was made:"
echo "$ pugmark pc $demo"; "$pugmark" pc $demo >"$1/demo.path"
sed -n 1,5p "$1/demo.path"
if cmp -s "$1/demo.path" $demo/path.txt; then
  echo "... $(wc -l <"$1/demo.path") instructions, the same as the program really ran ($demo/path.txt)"
else
  echo "... which differs from what the program ran ($demo/path.txt)" >&2
  exit 1
fi

say "The functions that ran, with the times that the trace has: which path of calls took how long."
run calls --summary $demo

say "The same trace with a program that is not quite the one that ran, 4 bytes off: that is found out."
sed -n '/^\[regs\]/,/^\[/s/^\([A-Z0-9]*\)(.*)=\(.*\)/\1 = \2/p' $demo/ETM_0.ini >"$1/demo.registers"
echo "$ pugmark pc --protocol etmv4i ... --image program.bin@0x400004 trace.bin"
if "$pugmark" pc --protocol etmv4i --transport coresight --params "$1/demo.registers" \
  --image $demo/program.bin@0x400004 $demo/trace.bin 2>&1 >/dev/null; then
  echo "... which it was not" >&2
  exit 1
fi

say "And the counts."
run stat $demo
