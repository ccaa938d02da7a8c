#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# callgrind's and pprof's profiles say the same of each function as the table does: of the bundled captures, and of programs
# that call, jump and inline from file to file, of which each line is the same, too; also where these are not there any more.
#   profile_stacks.sh BIN SOURCE
set -eu
export LC_ALL=C
pugmark=$1/pugmark source=$2 target=captures
for tool in perl zcat; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
built=$("$pugmark" --version)
[[ $built == *zlib* ]] || { echo "skipped: built without zlib"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
fail() { echo "profile_stacks: $target: $*"; exit 1; }

profile() { "$pugmark" profile --quiet "$@"; }
table() { # functions by their names, and lines, as the readers below tell them
  profile --json --rows 100000 "$1" | perl -ne '
    if (/"instructions": (\d+), .*"with callees": (\d+), .*"function": "([^"]*)"/) { $own{$3} += $1; $all{$3} += $2 }
    print "line $2 $1\n" if /"instructions": (\d+), "count": .*"line": "([^"]*)"/;
    END { print "function $_ $own{$_} $all{$_}\n" for keys %own }'
}
callgrind() { profile --format callgrind "$1" >made.callgrind; perl "$source/tests/support/read_callgrind.pl" made.callgrind; }
pprof() { profile --format pprof "$1" | zcat >made.pprof; perl "$source/tests/support/read_pprof.pl" made.pprof; }
same() { # kind, what it is of
  diff <(grep "^$1 " of_table | sort) <(grep "^$1 " "$2" | sort) >differ || fail "$2 has not what the table has: $(head differ)"
}
compare() { # input
  table "$1" >of_table
  callgrind "$1" >of_callgrind
  pprof "$1" >of_pprof
  grep -q '^function ' of_table || fail "no functions"
  same function of_callgrind
  same function of_pprof
  grep -qx 'default instructions' of_pprof || fail "pprof begins with another value"
}

# Exceptions, losses, threads, code that changes; functions without names, in memory that is no file.
for target in "$source"/tests/captures/*/; do
  compare "$target"
done

for tool in clang ld.lld qemu-aarch64 qemu-arm qemu-riscv64; do
  command -v "$tool" >/dev/null || { echo "passed over, programs: no $tool"; exit 0; }
done
[[ $built == *dwarf* ]] || { echo "passed over, programs: built without libdw"; exit 0; }
cp "$source/tests/run/profile_stacks.c" "$source/tests/run/leave.h" .
for target in aarch64-linux-gnu:etmv4 armv7a-linux-gnueabihf:ptm riscv64-linux-gnu:etrace riscv64-linux-gnu:ntrace; do
  clang --target="${target%:*}" $([[ $target != arm* ]] || echo -mthumb) -O2 -g -fno-vectorize -fno-unroll-loops \
    -fdebug-prefix-map="$work"=/made -ffreestanding -nostdlib -static -fuse-ld=lld profile_stacks.c -o program
  "$pugmark" record --quiet --protocol "${target#*:}" --out trace -- ./program
  compare trace
  same line of_callgrind
  same line of_pprof
  # What tail calls led to is their caller's caller's.
  read -r _ _ own inclusive < <(grep '^function outer ' of_table)
  [[ $inclusive -gt $((own * 10)) ]] || fail "outer did not what it called: $inclusive with callees, $own of its own"
  # Also out of what is inlined from another file functions call, and jump, to where something is.
  [[ -z $(comm -23 <(sed -n 's/^called //p' of_callgrind) <(sed -n 's/^defined //p' of_callgrind)) ]] ||
    fail "functions are called in another file than they are: $(grep -E '^(called|defined)' of_callgrind)"
  [[ -z $(comm -23 <(sed -n 's/^jump //p' of_callgrind) <(sed -n 's/^line \(.*\) .*/\1/p' of_callgrind)) ]] ||
    fail "jumps to lines that did not run: $(grep -E '^(jump|line)' of_callgrind)"
  profile -o saved.pug trace
  rm -r program trace
  compare saved.pug
  ! grep -q '^function outer ' of_table || fail "the program is still there"
done
