#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that is killed keeps its path to the last instruction: QEMU's own log of each instruction says
# which that was.
set -eu
bin=$1 source=$2
command -v qemu-aarch64 >/dev/null && command -v qemu-riscv64 >/dev/null ||
  { echo "there is no qemu-user here"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
"$source/tests/truth/build.sh" "$work/programs" killed.{a64,t32,rv{32,64}} || exit $?
cd "$work"
ulimit -c 0

fails() { # words...
  echo "$*"
  cat said
  exit 1
}

# logged EMULATOR PROGRAM HOW: the addresses that QEMU says it came to
logged() {
  { "$1" -singlestep -d exec,nochain -D log "$2" "$3" || true; } >/dev/null 2>&1
  awk -F / '/^Trace/ { sub(/^0*/, "", $2); print $2 }' log # Trace 0: 0x… […/ADDRESS/…]
}

# check EMULATOR SET PROTOCOL HOW TRAPS: what is decoded is what QEMU logs, but for so many instructions
# that trapped in place of retiring: the one that killed, RISC-V's ecalls
check() {
  "$bin/pugmark" record --protocol "$3" --out out --path ran -- "programs/killed.$2" "$4" >said 2>&1 || fails "$*:"
  grep -q "by signal $4\>" said || fails "$*: nothing says that it was killed"
  "$bin/pugmark" pc out --verify ran >said 2>&1 || fails "$*:"
  "$bin/pugmark" pc out | sed 's/^0*//' >ours
  logged "$1" "programs/killed.$2" "$4" >theirs
  [[ $(wc -l <theirs) -gt 30000 ]] || fails "$*: QEMU's log is too short"
  diff theirs ours >differ || true
  [[ $(grep -c '^<' differ || true) == "$5" ]] && ! grep '^>' differ >said || fails "$*: another path than QEMU's log"
}

for how in 11 4 9 6; do
  case $how in 11 | 4) traps=1 calls=20 ;; *) traps=0 calls=22 ;; esac
  check qemu-aarch64 a64 etmv4 $how $traps
  check qemu-riscv64 rv64 etrace $how $((calls + traps))
  [[ $how != 6 ]] || continue
  check qemu-arm t32 ptm $how $traps
  check qemu-riscv32 rv32 ntrace $how $((calls + traps))
done

# A program that cannot be recorded is reported, and nothing else.
"$bin/pugmark" record --quiet --protocol ptm --out none -- programs/killed.a64 9 2>said && fails "ptm: recorded" || true
[[ $(cat said) == "pugmark: ptm: it traces no processor with these instructions" ]] || fails "ptm:"

# With several threads, and from outside, where the plugin writes a file itself: until the process that writes it has
# enough, and until the file has its name, which it has when it is whole; what was there before has it until then.
"$bin/pugmark" record --quiet --protocol ete --out out --path ran -- programs/killed.a64 109
"$bin/pugmark" pc out --verify ran >said 2>&1 && grep -q 'of 2 processors' said || fails "threads:"
echo former >real
chmod 640 real
ln -s real path
qemu-aarch64 -plugin "$bin/../lib/libpugmark_record.so,out=path" programs/killed.a64 0 &
program=$!
written() { # of what the processes that this one began have open
  local writer
  for writer in $(cat /proc/$program/task/*/children 2>/dev/null); do
    stat -L -c %s /proc/"$writer"/fd/* 2>/dev/null
  done | sort -n | tail -1
}
until [[ $(written) -gt 60000 ]]; do sleep 0.1; done
[[ $(cat real) == former ]] || fails "from outside: the file that was there is gone before the new one is whole"
kill -KILL $program
wait $program 2>said || true
until [[ $(head -c 7 real) != former ]]; do sleep 0.1; done
[[ -L path && $(stat -c %a real) == 640 ]] || fails "from outside: not the link's target, or not its mode"
"$bin/pugmark" record --quiet --from path --protocol etmv4 --out out --path ran
"$bin/pugmark" pc out --verify ran >said 2>&1 && grep -q equal said || fails "from outside:"

# Who ends the recording ends the program, and has its trace.
rm -f ran
mkfifo fifo
cat fifo >ran &
"$bin/pugmark" record --protocol etmv4 --out out --path fifo -- programs/killed.a64 0 >said 2>&1 &
recording=$!
until [[ -s ran ]]; do sleep 0.1; done
kill -TERM $recording
wait $recording || fails "ended:"
grep -q 'killed by signal 15' said || fails "ended:"
"$bin/pugmark" pc out --verify ran >said 2>&1 && grep -q 'equal: [0-9]\{4\}' said || fails "ended:"
