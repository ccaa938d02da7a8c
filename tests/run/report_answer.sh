#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark report answers the question first: how it ended, and what that rests on, in the words of standard error. Its page fits any
# screen, is for any reader, and can be compared with an older run.
#   report_answer.sh BIN SOURCE
set -u
pugmark=$1/pugmark source=$2 bad=0
[[ $1 == */release/* ]] || { echo "a browser reads the page; what writes it, run_report tries with sanitizers"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
fail() { echo "$*"; bad=1; }
part() { bash "$source/tests/report/unpack.sh" "$1" "$2"; }
cd "$source" || exit 1 # so that paths on the page are those of the pictures

# A crash: the headline is on the page without a script, and has links in the data.
"$pugmark" report examples/crash --source-dir examples/crash -o "$work/crash.html" 2>"$work/said" || fail "crash: exit $?"
[[ -s $work/said ]] && fail "crash: it said $(cat "$work/said")"
grep -qF '>Ended in a data fault in read_line(), crash.c:64, 42 ticks after it was entered.<' "$work/crash.html" || fail "crash: no headline"
part "$work/crash.html" head >"$work/head"
grep -qF '"about": "checked", "input": "examples/crash", "text": "source 0x10: 246 branches were compared with the program; all agree"' "$work/head" || fail "crash: what was checked"
grep -qF '{"kind": "fault", "title": "data fault"' "$work/head" || fail "crash: no event"

# Another build of the program: the page has each sentence that standard error has, also under --quiet, and nothing is green.
cp -r examples/crash "$work/wrong"
cp examples/crash/crash.mended "$work/wrong/crash"
for quiet in '' --quiet; do
    "$pugmark" report ${quiet:+"$quiet"} "$work/wrong" -o "$work/wrong.html" 2>"$work/quiet"
    [[ $? -eq 1 ]] || fail "wrong build: the exit code"
    [[ $quiet ]] || cp "$work/quiet" "$work/said"
    part "$work/wrong.html" head >"$work/head"
    count=0
    while IFS= read -r line; do
        [[ $line == *"something is wrong:" ]] && continue
        line=${line#pugmark: } line=${line#"$work/wrong/trace.bin: "} line=${line#"  * "}
        grep -qF "\"text\": \"$line\"" "$work/head" || fail "wrong build $quiet: not on the page: $line"
        count=$((count + 1))
    done <"$work/said"
    ((count >= 3)) || fail "wrong build: standard error said little: $(cat "$work/said")"
    grep -qF 'does not match the trace' "$work/wrong.html" || fail "wrong build: not in the page without a script"
    grep -qF '"about": "checked"' "$work/head" && fail "wrong build: something is green"
done
[[ -s $work/quiet ]] && fail "--quiet: it said $(cat "$work/quiet")"

# Of several buffers: the command that shows more of a place has to name one, so places tell of theirs.
cp -r examples/crash "$work/two"
cp "$work/two/trace.bin" "$work/two/second.bin"
printf '%s\n' '[trace_buffers]' 'buffers=b0,b1' '[b0]' name=FIRST file=none.bin format=coresight '[b1]' name=SECOND file=second.bin \
    format=coresight '[source_buffers]' trace_0=SECOND '[core_trace_sources]' cpu_0=trace_0 >"$work/two/trace.ini"
head -c 16 /dev/zero >"$work/two/none.bin"
"$pugmark" report --quiet "$work/two" -o "$work/two.html" 2>"$work/said"
(($? <= 1)) || fail "two buffers: $(cat "$work/said")"
part "$work/two.html" head | grep -qF '"buffers": ["FIRST", "SECOND"]' || fail "two buffers: not named"
part "$work/two.html" timelines | grep -oE '"offset": \[[0-9]+' | sort -u | grep -qE '[13579]$' || fail "two buffers: a place is not in the second one"
part "$work/crash.html" head | grep -qF '"buffers": [""]' || fail "one buffer: it is named"

# Calls nested deeper than the timeline draws: a function that calls itself (ETMv4: ASYNC, TRACE INFO, an address, atoms).
printf '\x00\x00\x00\x94' >"$work/recursion.bin"
{
    printf '\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x85\x00\x08\x00\x00\x00\x00\x00\x00\x31'
    head -c 100 /dev/zero | tr '\0' '\324'
} >"$work/deep.etm"
"$pugmark" report --quiet --protocol etmv4i --transport plain --core ARMv8-A --set TRCIDR0=0x28000ea1 --set TRCIDR1=0x4100f421 --set TRCIDR2=0x488 \
    --set TRCIDR8=0 --set TRCCONFIGR=0xc1 --image "$work/recursion.bin@0x1000" "$work/deep.etm" -o "$work/deep.html" || fail "deep: exit $?"
part "$work/deep.html" timelines | grep -qE '"too_deep": [1-9]' || fail "deep: calls that are not drawn are not counted"

# Software trace: nothing was compared with a program, so nothing is green.
printf '\x00\x00\x00\x00\x00\x80\x01H\x01i\x19x\x01!\x01\x0a\xc0\x0a\x03abc\x00\xc0\x5a' >"$work/swo.bin"
"$pugmark" report --quiet --protocol itm "$work/swo.bin" -o "$work/swo.html" || fail "swo: exit $?"
part "$work/swo.html" head >"$work/head"
grep -qF '"about": "checked"' "$work/head" && fail "swo: something is green"
grep -qF '6 messages of software' "$work/head" || fail "swo: the headline"

# Against an older run: functions and lines that are new, and nothing where both are the same.
"$pugmark" profile --stacks --quiet --time ,8768900 --output "$work/old" examples/crash || fail "profile: exit $?"
"$pugmark" report --quiet examples/crash --baseline "$work/old" -o "$work/compared.html" || fail "baseline: exit $?"
part "$work/compared.html" coverage >"$work/coverage"
grep -qE '^\[\[[0-9, ]+, \[[0-9, ]*101[0-9, ]*\], \[\]\]\]$' "$work/coverage" || fail "baseline: line 101 is not gained: $(cat "$work/coverage")"
part "$work/compared.html" baseline | grep -qF '"name": ["_start", ' || fail "baseline: no functions"
"$pugmark" report --quiet examples/crash --baseline examples/crash -o "$work/same.html" || fail "the same: exit $?"
part "$work/same.html" coverage | grep -qE ', \[\], \[\]\]\]$' || fail "the same: lines are gained or lost"
"$pugmark" report --quiet --detail 65 examples/crash -o "$work/none" 2>"$work/said"
[[ $? -eq 2 ]] && grep -q -- '--detail is a number' "$work/said" || fail "--detail 65"

# Sources that do not fit: what ran least is left out and named, unless there is to be more detail.
if command -v clang >/dev/null && command -v ld.lld >/dev/null && command -v qemu-aarch64 >/dev/null; then
    mkdir "$work/big"
    for name in often seldom; do
        {
            printf 'int %s(int n) { int s = 0; for (int i = 0; i < n; i++) s += n * i %% 7; return s; }\n' "$name"
            head -c 2250000 /dev/urandom | base64 -w 100 | tr / x | sed 's,^,// ,'
        } >"$work/big/$name.c"
    done
    printf '%s\n' 'int often(int n), seldom(int n);' 'void _start(void) {' ' volatile int all = often(100) + seldom(3); (void)all;' \
        ' __asm__ volatile("mov x8, #93\n svc 0"); }' >"$work/big/main.c"
    clang --target=aarch64-linux-gnu -mno-outline-atomics -O1 -g -ffreestanding -nostdlib -static -fuse-ld=lld -o "$work/big/program" "$work"/big/*.c || fail "sources: clang"
    "$pugmark" record --quiet --protocol etmv4 --out "$work/big/capture" -- "$work/big/program" || fail "sources: record"
    for detail in 1 2; do
        "$pugmark" report --quiet --detail $detail --source-dir "$work/big" -o "$work/big.html" "$work/big/capture" || fail "sources: exit $?"
        part "$work/big.html" head | grep -o '"left_out": .*' >"$work/left_out"
        size=$(grep '^<script type="[^"]*" id="part-' "$work/big.html" | wc -c)
        ((size < detail * 4 * 1024 * 1024)) || fail "sources: $size bytes of data with --detail $detail"
        [[ $detail == 1 ]] && named='"left_out": ["the text of '$work'/big/seldom.c"]}' || named='"left_out": []}'
        [[ $(cat "$work/left_out") == "$named" ]] || fail "sources: --detail $detail: $(cat "$work/left_out")"
    done
    head -c 4400000 /dev/zero | tr '\0' '\n' >>"$work/big/often.c" # longer than a page takes of one file
    "$pugmark" report --quiet --detail 2 --source-dir "$work/big" -o "$work/big.html" "$work/big/capture" || fail "sources: exit $?"
    part "$work/big.html" head | grep -q '"left_out": .*the text of [^"]*/big/often.c"' || fail "sources: a file of 7 MB is not named"
else
    echo "skipped: sources that do not fit need clang, lld and qemu-aarch64"
fi
((bad == 0)) || exit 1

if ! command -v node >/dev/null; then
    echo "skipped: the page's modules need node"
    exit 77
fi
node --test "$source/tests/report/units.test.mjs" >"$work/units" 2>&1 || { cat "$work/units"; fail "units"; }
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [[ -z $browser ]]; then
    echo "skipped: reading the page needs chromium"
    ((bad == 0)) && exit 77
    exit 1
fi
axe=${PUG_AXE:-$(npm root -g 2>/dev/null)/axe-core/axe.min.js}
[[ -e $axe ]] || { echo "skipped: accessibility needs axe-core (npm install -g axe-core, or PUG_AXE)"; axe=; }
node "$source/tests/report/answer.mjs" "$browser" "$work/crash.html" ${axe:+"$axe"} || bad=1
node "$source/tests/report/deep.mjs" "$browser" "$work/deep.html" || bad=1
node "$source/tests/report/pictures.mjs" "$browser" "$work/crash.html" "$source/tests/report/pictures"
[[ $? -eq 0 || $? -eq 77 ]] || bad=1
exit $bad
