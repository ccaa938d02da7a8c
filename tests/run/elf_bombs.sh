#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of at most a megabyte, of which libelf, libdw and we made gigabytes or hours: sections, notes and tables that lie over each
# other, folders and files of line tables, ranges that are none. Commands take at most 512 MiB and 10 s of a processor, and say what they leave out.
#   elf_bombs.sh BIN SOURCE
set -u
bin=$1 source=$2 bad=0
version=$("$bin/pugmark" --version)
[[ $version == *elf* && $version == *dwarf* ]] && command -v perl >/dev/null || { echo "skipped: needs libelf, libdw and perl"; exit 77; }
unset GLIBC_TUNABLES # limits are on memory
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
data=524288 seconds=10
grep -qE '__asan_init|__tsan_init' "$bin/pugmark" && data=unlimited seconds=100
wrong() { echo "$*"; bad=1; }

# ETMv4: ASYNC, TRACE INFO, an address with context, atoms.
printf '\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x85\x00\x08\x00\x00\x00\x00\x00\x00\x31\xd4\xd4\xd4\xd4' >atoms.etm
arm=(--jobs 2 --protocol etmv4i --transport plain --core ARMv8-A --set TRCIDR0=0x28000ea1 --set TRCIDR1=0x4100f421 --set TRCIDR2=0x488 --set TRCIDR8=0
    --set TRCCONFIGR=0xc1)
kinds=$(perl "$source/tests/support/elf_bombs.pl" kinds)
[[ $kinds == *abbreviations*sections* ]] || { echo "no kinds of programs: $kinds"; exit 1; }
# Variables are looked for where a DWT reports accesses.
perl -I"$source/tests/support" -Mswo -e 'swo::sync; for (0 .. 99) { swo::watch(0, 0x1002, 4 * $_, 4, 1); swo::time(10); } swo::done' >watch.swo
swo=(--protocol itm --set DWT_COMP0=0x20000000 --elf program.elf watch.swo)
for kind in $kinds; do
    perl "$source/tests/support/elf_bombs.pl" "$kind" program.elf || { wrong "$kind: not made"; continue; }
    (($(stat -c %s program.elf) <= 1000000)) || wrong "$kind: $(stat -c %s program.elf) bytes"
    for command in profile "report --output made"; do
        input=("${arm[@]}" --elf program.elf atoms.etm)
        [[ $kind == types ]] && command="timeline --format chrome" && input=("${swo[@]}")
        (ulimit -d $data -t $seconds && exec timeout 120 "$bin/pugmark" $command "${input[@]}") >out 2>said
        code=$?
        ((code == 0)) || wrong "$command with $kind: exit $code within 512 MiB and $seconds s: $(tail -n 1 said)"
        grep -qE 'program.elf: its debug information (is left out|says more than)' said || wrong "$command with $kind: nothing says what is left out"
    done
done
exit $bad
