#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Coverage of 20 programs at -O0 by their trace: lines and counts are gcov's, branch outcomes llvm-cov's, MC/DC that of
# clang-19's -fcoverage-mcdc; and exclusions, paths and formats.
#   coverage_peers.sh BIN SOURCE
set -eu
pugmark=$1/pugmark source=$2
llvm=$(ls -d /usr/lib/llvm-{19,2[0-9]}/bin 2>/dev/null | head -1 || true)
[[ -x $llvm/clang && -x $llvm/llvm-cov && -x $llvm/llvm-profdata ]] ||
  { echo "skipped: there is no clang-19 with llvm-cov and llvm-profdata here"; exit 77; }
for tool in ld.lld qemu-aarch64 python3; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool here"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$source"/tests/coverage/* .
wrong() { echo "$*"; exit 1; }

target() { # NAME: a program for the tracer, and its trace
  "$llvm/clang" --target=aarch64-linux-gnu -O0 -g -DSTART -nostdlib -static -ffreestanding -fuse-ld=lld -mno-outline-atomics -w -o "$1" "$1.c"
  "$pugmark" record --quiet --force --protocol etmv4 --out "$1.trace" -- "./$1"
}
programs=0 lines=0 decisions=0
for file in [a-z]*.c; do
  name=${file%.c}
  "$llvm/clang" -O0 --coverage -o gcov "$file" 2>said && ./gcov ||
    { echo "skipped: this clang makes no coverage here: $(head -1 said)"; exit 77; }
  "$llvm/llvm-cov" gcov -a -t gcov-"$name".gcda >gcov.txt 2>/dev/null
  "$llvm/clang" -O0 -w -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc -o peer "$file" 2>said
  LLVM_PROFILE_FILE=peer.raw ./peer
  "$llvm/llvm-profdata" merge -o peer.profile peer.raw
  "$llvm/llvm-cov" export -instr-profile peer.profile ./peer >peer.json
  target "$name"
  "$pugmark" coverage --quiet --mcdc --elf "$name" --format json "$name.trace" >trace.json
  python3 compare.py "$file" gcov.txt peer.json trace.json >said || { cat said; exit 1; }
  grep '^  not' said || true
  read -r few _ _ _ _ _ more _ < <(tail -1 said)
  programs=$((programs + 1)) lines=$((lines + few)) decisions=$((decisions + more))
done
echo "$programs programs, $lines lines, $decisions decisions compared"
[[ $programs == 20 && $lines -gt 180 && $decisions -ge 15 ]] || wrong "too little was compared"

# Several runs add up, and what each covers of a decision. How many words the program gets says what it does.
cat >split.c <<'END'
// What comments leave out.
static int both(int a, int b)
{
    if (a && b)
        return 1;
    return 0; // LCOV_EXCL_LINE
}
// LCOV_EXCL_START
static int excluded(int n)
{
    return n > 2 ? 1 : 2;
}
// LCOV_EXCL_STOP
static int lines(int a, int b)
{
    if (a &&
        b) // LCOV_EXCL_BR_LINE
        return 2;
    return 3;
}
__attribute__((used)) void begin(long words)
{
    both(words != 2, words != 3);
    excluded((int)words);
    lines(1, 1);
    __asm volatile("mov x8, #93\n mov x0, #0\n svc #0");
}
__attribute__((naked)) void _start(void)
{
    __asm volatile("ldr x0, [sp]\n bl begin");
}
END
"$llvm/clang" --target=aarch64-linux-gnu -O0 -g -nostdlib -static -ffreestanding -fuse-ld=lld -mno-outline-atomics -w -o split split.c
"$pugmark" record --quiet --protocol etmv4 --out split11 -- ./split
"$pugmark" record --quiet --protocol etmv4 --out split01 -- ./split one
"$pugmark" record --quiet --protocol etmv4 --out split10 -- ./split one two
cover() { "$pugmark" coverage --quiet --mcdc --source-dir . --elf split "$@"; }
covered() { cover --format lcov "$@" | awk -F, '/^MCDC:4,2,t/ {printf "%s", $4}'; }
[[ $(covered split11) == 00 && $(covered split11 split01) == 10 && $(covered split11 split01 split10) == 11 ]] ||
  wrong "runs do not add up: $(covered split11) $(covered split11 split01) $(covered split11 split01 split10)"
cover --format lcov split11 >lcov
for line in 6 9 11; do ! grep -q "^DA:$line," lcov || wrong "line $line is not left out"; done
! grep -q '^BRDA:17,' lcov && grep -q '^DA:17,' lcov || wrong "branches of line 17, and these alone, are to be left out"
! grep -q '^FN:.*excluded' lcov || wrong "a function is not left out"
cover --no-exclusions --format lcov split11 | grep -q '^DA:11,' || wrong "--no-exclusions leaves out"
cover --no-exclusions split11 | grep -q ':16:.*not measurable: it is on several lines' || wrong "lines of a decision are not doubted"
grep -qx "SF:$PWD/split.c" lcov || wrong "not this path: $(grep SF lcov)"
cover --format lcov --path-map "$PWD=" split11 | grep -qx 'SF:split.c' || wrong "the path is not mapped"

# HTML has the decisions, and why one is not measurable.
cover --format html split11 split01 split10 >page.html
grep -q '<tr class="hit"><td>4:[0-9]*</td><td>2 of 2</td><td>2 of 2</td><td></td></tr>' page.html || wrong "HTML: no decision of line 4"
cover --no-exclusions --format html split11 >page.html
grep -q '<td>0 of 2</td><td>0 of 1</td><td>not measurable: it is on several lines' page.html && grep -q '<td>4:[0-9]*</td><td>1 of 2</td><td>0 of 2</td><td>not shown: 4:[0-9]*, 4:[0-9]*</td>' page.html ||
  wrong "HTML: not what is measurable"

# Masking: (a || b) && c by 1-1 and 01 0: a differs, but is masked. Unique cause needs an equal a.
cat >mask.c <<'END'
static int both(int a, int b, int c)
{
    if ((a || b) && c)
        return 1;
    return 0;
}
__attribute__((used)) void begin(long words)
{
    both(1, 0, 1);
    both(0, 1, 0);
    __asm volatile("mov x8, #93\n mov x0, #0\n svc #0");
}
__attribute__((naked)) void _start(void)
{
    __asm volatile("ldr x0, [sp]\n bl begin");
}
END
"$llvm/clang" --target=aarch64-linux-gnu -O0 -g -nostdlib -static -ffreestanding -fuse-ld=lld -mno-outline-atomics -w -o mask mask.c
"$pugmark" record --quiet --protocol etmv4 --out mask.trace -- ./mask
shown() { "$pugmark" coverage --quiet --mcdc "$@" --elf mask --format json mask.trace | grep -oE '"covered": [01]' | awk '{printf "%s", $2}'; }
[[ $(shown) == 000 && $(shown --masking) == 001 ]] || wrong "masking: $(shown), $(shown --masking)"
if "$pugmark" coverage --masking --elf mask mask.trace >/dev/null 2>said; then wrong "--masking alone"; fi

# Each format is well formed, and its sums are those of JSON.
cover --format json split11 >all.json
for format in cobertura jacoco sonar; do cover --format $format --path-map "$PWD=" split11 >$format.xml; done
python3 - <<'END'
import json
import xml.etree.ElementTree as tree
(split,) = [f for f in json.load(open("all.json"))["files"] if f["path"].endswith("split.c")]
sums = split["summary"]
lines = {line["line"]: line["count"] for line in split["lines"]}
cobertura = [c for c in tree.parse("cobertura.xml").iter("class") if c.get("filename") == "split.c"]
found = {int(l.get("number")): int(l.get("hits")) for c in cobertura for l in c.find("lines")}
assert found == lines, (found, lines)
jacoco = [s for s in tree.parse("jacoco.xml").iter("sourcefile") if s.get("name") == "split.c"][0]
counters = {c.get("type"): int(c.get("covered")) for c in jacoco.findall("counter")}
assert counters["LINE"] == sums["lines_covered"] and counters["BRANCH"] == sums["branch_outcomes_covered"], counters
assert counters["INSTRUCTION"] == sums["instructions_covered"] and counters["METHOD"] == sums["functions_covered"], counters
sonar = [f for f in tree.parse("sonar.xml").iter("file") if f.get("path") == "split.c"][0]
found = {int(l.get("lineNumber")): l.get("covered") == "true" for l in sonar}
assert found == {line: count > 0 for line, count in lines.items()}, found
assert sums["calls"] == 4 and sums["calls_covered"] == 4 and sums["statements"] >= sums["lines"] - 2, sums
END
# A saved profile has no order.
"$pugmark" profile --quiet --elf split -o saved split11
cover --format json saved 2>said >saved.json
grep -q 'a saved profile has no order' said || wrong "not said of a saved profile: $(cat said)"
