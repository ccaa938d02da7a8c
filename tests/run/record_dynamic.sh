#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A dynamic program of another architecture finds its libraries, or the package that has them is named.
#   record_dynamic.sh BIN SOURCE
set -eu
pugmark=$(readlink -f "$1")/pugmark bad=0
wrong() { echo "$*"; bad=1; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
if ! command -v aarch64-linux-gnu-gcc >/dev/null && ! command -v perl >/dev/null; then
  echo "skipped: neither a cross compiler nor perl is there"
  exit 77
fi
# A head of an ELF program that names a dynamic linker which is nowhere.
linker() { # NAME FILE
  perl -e '
    my ($name, $file) = @ARGV;
    my $head = "\x7fELF\2\1\1" . "\0" x 9 . pack("vvVQQQVvvvvvv", 2, 183, 1, 0x400000, 64, 0, 0, 64, 56, 1, 64, 0, 0);
    my $interpreter = "$name\0";
    open my $out, ">:raw", $file or die;
    print $out $head, pack("VVQQQQQQ", 3, 4, 120, 0x400078, 0x400078, length $interpreter, length $interpreter, 1), $interpreter;' "$1" "$2"
  chmod +x "$2"
}
says() { # TEXT FILE
  "$pugmark" record --protocol etmv4 --out new "./$2" >/dev/null 2>said && wrong "$2: recorded"
  grep -qF -- "$1" said || wrong "$2: no '$1' in: $(<said)"
  [[ ! -e new ]] || wrong "$2: a snapshot was written"
}
linker /nowhere/ld-linux-aarch64.so.1 known
says "it is linked dynamically for aarch64, and its libraries are not here (no /nowhere/ld-linux-aarch64.so.1): install libc6-arm64-cross, give their folder with --sysroot DIR, or link it with -static" known
linker /nowhere/ld-of-others.so.1 unknown
says "(no /nowhere/ld-of-others.so.1): give their folder with --sysroot DIR" unknown
linker "/$(printf 'x%.0s' {1..400})" long
says "" long
grep -q 'linked dynamically' said && wrong "a path that is too long was taken"
# And where both are there it runs.
if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null && [[ -e /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1 ]]; then
  echo 'extern void exit(int); void _start(void) { exit(3); }' >program.c # without the files that programs begin with
  aarch64-linux-gnu-gcc -nostdlib program.c -o program /usr/aarch64-linux-gnu/lib/libc.so.6
  "$pugmark" record --protocol etmv4 --limit 100000 --out run ./program 2>said || { grep -q 'must load plugins' said && exit $bad; wrong "$(<said)"; }
  grep -q "exit status is 3" said || wrong "not run to its end: $(<said)"
  (($("$pugmark" pc --quiet run | wc -l) > 1000)) || wrong "next to nothing was recorded"
else
  echo "no cross compiler, libraries or QEMU: not run"
fi
exit $bad
