#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark report of a program of 100,000 functions, some with names like markup: it opens, finds, shows numbers, and runs nothing.
set -u
pugmark=$1/pugmark source=$2 bad=0 count=100000
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
fail() { echo "$*"; bad=1; }
command -v clang >/dev/null && command -v ld.lld >/dev/null || { echo "skipped: the program needs clang and lld"; exit 77; }

# A program that calls each function once, and the addresses that run.
awk -v count=$count '
    function name(i) {
        return i == 7 ? "<script>window.bad=1</script>" : i == 8 ? "</script><img src=x onerror=window.bad=1>" : i == 9 ? "_Z3fibj" : "function_" i
    }
    BEGIN {
        print ".text\n.globl _start\n.type _start, %function\n_start:"
        for (i = 0; i < count; i++) printf " bl \"%s\"\n", name(i)
        print " svc #0\n.size _start, . - _start"
        for (i = 0; i < count; i++) printf ".type \"%s\", %%function\n\"%s\": ret\n.size \"%s\", 4\n", name(i), name(i), name(i)
    }' >"$work/many.s"
clang --target=aarch64-linux-gnu -nostdlib -static -fuse-ld=lld -Wl,-Ttext=0x400000 "$work/many.s" -o "$work/many" || exit 1
awk -v count=$count 'BEGIN {
    for (i = 0; i < count; i++) printf "0x%x\n0x%x\n", 4194304 + 4 * i, 4194304 + 4 * (count + 1 + i)
    printf "0x%x\n", 4194304 + 4 * count }' >"$work/ran"
"$pugmark" record --quiet --from "$work/ran" --elf "$work/many" --protocol etmv4 --out "$work/capture" || fail "record: exit $?"
"$pugmark" report --quiet --elf "$work/many" --output "$work/report.html" "$work/capture" "$work/capture" || fail "report: exit $?"
bash "$source/tests/report/unpack.sh" "$work/report.html" functions | grep -q '"function_99999"' || fail "the program's names are not those of the dump that has its code"
grep -qE '<script>window|<img' "$work/report.html" && fail "a name became markup"
size=$(grep '^<script type="[^"]*" id="part-' "$work/report.html" | wc -c)
((size > 0 && size < 4 * 1024 * 1024)) || fail "the data of the page have $size bytes, more than 4 MB"
"$pugmark" trace --quiet --no-pager --elf "$work/many" --last 2 "$work/capture" | grep 'function_99999+0x0' >/dev/null || fail "trace: no name"
"$pugmark" trace --quiet --no-pager --elf "$work/many" --before 0x461aa8 --last 3 "$work/capture" | grep -F 'fib(unsigned int)+0x0' >/dev/null || fail "trace: a name of C++ as the linker has it"
"$pugmark" trace --quiet --no-pager --elf "$work/many" --before 0x461aa8 --last 3 --mangled "$work/capture" | grep -F '_Z3fibj+0x0' >/dev/null || fail "trace: --mangled"
"$pugmark" timeline --quiet --format chrome --elf "$work/many" "$work/capture" | grep -F '"name": "fib(unsigned int)"' >/dev/null || fail "timeline: a name of C++ as the linker has it"
"$pugmark" calls --quiet --elf "$work/many" "$work/capture" | grep -F ' fib(unsigned int)();' >/dev/null || fail "calls: a name of C++ as the linker has it"
((bad == 0)) || exit 1

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [[ -z $browser ]] || ! command -v node >/dev/null; then
    echo "skipped: reading the page back needs chromium and node"
    exit 77
fi
node "$source/tests/report/large.mjs" "$browser" "$work/report.html" $count || bad=1
exit $bad
