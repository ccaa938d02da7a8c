#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Pages have the text of source files from permitted folders only, whatever file a program's debug information names.
set -u
bin=$1 unpack=$2/tests/report/unpack.sh bad=0
for tool in clang ld.lld qemu-aarch64; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
mkdir -p "$work/home/project/.hidden" "$work/else/where" "$work/lost/and"
cd "$work/home/project" || exit 1
export HOME=$work/home
wrong() { echo "$*"; bad=1; }
unpacked() { bash "$unpack" "$1" >"$1.data" && cat "$1.data" >>"$1"; } # a report's data are packed

# A file of each kind; its text says what it is, and a program that has a function in each.
text() { printf 'line one\nTEXT-%s\nline three\n' "$1"; }
text outside >"$work/else/where/outside.c"
mkdir ../project-not
text beside >../project-not/beside.c
text hidden >.hidden/hidden.c
text dotted >.dotted.c
text inside >inside.c
text relative >relative.c
{ text binary; printf '\0\1\2'; } >binary.c
{ text latin; printf '\xe9\n'; } >latin.c
mkfifo fifo.c
text linked >"$work/else/linked.c"
ln -s "$work/else/linked.c" link.c
ln -s "$work/else" folder
text moved >"$work/lost/and/moved.c"
files=("$work/else/where/outside.c" "$work/home/project-not/beside.c" "$PWD/.hidden/hidden.c" .dotted.c "$PWD/inside.c" relative.c
    binary.c latin.c fifo.c link.c folder/where/outside.c ../project-not/../../else/where/outside.c /gone/and/moved.c /etc/passwd)
{
    for n in "${!files[@]}"; do
        printf '#line 1 "%s"\nint f%d(int x)\n{\n return x * 3 + 1;\n}\n' "${files[n]}" "$n"
    done
    printf '#line 1 "main.c"\nint main(void) { int s = 0;\n'
    for n in "${!files[@]}"; do printf 's += f%d(s);\n' "$n"; done
    printf 'return s & 1; }\nvoid _start(void) { main(); __asm__ volatile("mov x0, 0\\n mov x8, 94\\n svc 0"); }\n'
} >made.c
clang --target=aarch64-linux-gnu -mno-outline-atomics -O0 -g -nostdlib -static -fuse-ld=lld -o program made.c || exit 1
"$bin/pugmark" record --quiet --protocol etmv4 --out capture -- ./program || { echo "it cannot be recorded"; exit 1; }

pages() { # WANTED… : the texts that must be in both pages, with `options`; all others must not be
    local page command word all="outside beside hidden dotted inside relative binary latin linked moved"
    for command in report "coverage --format html"; do
        "$bin/pugmark" $command "${options[@]}" -o page capture 2>said || wrong "$command ${options[*]}: exit $?: $(head -n 1 said)"
        unpacked page
        for word in $all; do
            if [[ " $* " == *" $word "* ]]; then
                grep -q "TEXT-$word" page || wrong "$command ${options[*]}: no text of $word"
            else
                grep -q "TEXT-$word" page && wrong "$command ${options[*]}: text of $word"
            fi
        done
        grep -q 'root:' page && wrong "$command ${options[*]}: /etc/passwd"
        grep -q 'outside.c' page || wrong "$command ${options[*]}: outside.c has no name"
    done
}
options=()
pages inside relative
grep -q 'left out.*--source-dir DIR' said || wrong "it does not say what permits a file: $(cat said)"
[[ $(grep -c 'left out' said) == 1 ]] || wrong "more than one line"
options=(--sandbox --confine) # where they are, they permit no more
"$bin/pugmark" info --sandbox capture >/dev/null 2>&1 && pages inside relative
options=(--source-dir "$work/else")
pages outside linked
options=(--source-dir "$work/lost")
pages moved
options=(--source-dir "$work/lost" --source-dir .)
pages moved inside relative
options=(--source-dir .hidden)
pages hidden
# The home folder, and one that holds it, permit nothing by themselves.
mv ../project/* .. 2>/dev/null
cd .. || exit 1
options=()
text relative >relative.c
"$bin/pugmark" report -o page capture/snapshot.ini 2>said || wrong "report at home: $(head -n 1 said)"
unpacked page
grep -q 'TEXT-' page && wrong "the home folder was permitted"
cd / || exit 1
"$bin/pugmark" report -o "$work/page" "$work/home/capture" 2>"$work/said" || wrong "report at the root: $(head -n 1 "$work/said")"
unpacked "$work/page"
grep -q 'TEXT-\|root:' "$work/page" && wrong "the root was permitted"
exit $bad
