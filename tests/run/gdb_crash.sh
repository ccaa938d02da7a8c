#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The crash example in stock GDB, wherever it lies: from the fault three commands lead to find(), and its text is shown.
set -eu
bin=$1 source=$2
command -v gdb-multiarch >/dev/null || { echo "needs gdb-multiarch, which is not installed"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
export HOME=$tmp
mkdir "$tmp/it's here"
cp -r "$source/examples/crash" "$tmp/it's here"
for capture in "$source/examples/crash" "$tmp/it's here/crash" "$tmp/it's here/crash/snapshot.ini"; do
  "$bin/pugmark" gdb "$capture" -- -nx -batch -ex 'pugmark goto exception' -ex 'tbreak find' -ex reverse-continue -ex list \
    >"$tmp/said" 2>&1
  grep -q 'before exception 12 (data fault)' "$tmp/said"
  perl -0ne '
    /find \(line=<unavailable>\) at .*crash\.c:(\d+)\n\1\t\s*(?!in )\S/ && $1 >= 35 && $1 <= 39 or die "$_\nit is not in find()\n";
    /^33\tstatic struct setting \*find/m or die "$_\nits text is not shown\n"' "$tmp/said"
done
# An address in any of its forms.
"$bin/pugmark" gdb "$source/examples/crash" -- -nx -batch -ex 'pugmark find address number+0x4' -ex 'pugmark find address crash.c:53' \
  -ex 'pugmark find address no_such_place' >"$tmp/said" 2>&1
grep -q '0x2103d4  number  crash.c:44' "$tmp/said"
grep -q '  behind  crash.c:53' "$tmp/said"
grep -q 'no program has that' "$tmp/said"
