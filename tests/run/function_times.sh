#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How long calls of each function take, where each instruction's time is known: tables as text, CSV and JSON, histogram,
# distances, the longest call with its path; and the same in the report, read back in a real browser.
#   function_times.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
for tool in clang ld.lld perl; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool here to make a program and its path"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "$*"; bad=1; }

cat >program.s <<'END'
.macro function name
.balign 64
.global \name
.type \name, %function
\name:
.endm
.macro end name
.size \name, . - \name
.endm
.text
function _start // 10000
bl outer
bl inner
b _start
end _start
function outer // 10040
nop
bl inner
nop
ret
end outer
function inner // 10080
nop
nop
ret
end inner
function isr // 100c0
nop
bl inner
eret
end isr
END
clang --target=aarch64-none-elf -g -c program.s -o program.o 2>said && ld.lld -Ttext=0x10000 -e _start program.o -o program.elf ||
  { echo "skipped: this clang makes nothing for aarch64"; exit 77; }
ld.lld -Ttext=0x10000 --oformat binary program.o -o program.bin

# outer takes 3000 and 5000: of that inner 1000 and, with an interrupt of 2000 in it, 3000. _start calls inner itself for 1000,
# and so does the interrupt's handler, where inner is open already: recursion, which counts once in the total.
cat >flow <<'END'
at 1000
run 10000 1
run 10040 2
at 2000
run 10080 3
at 3000
run 10048 2
at 4000
run 10004 1
at 4100
run 10080 3
at 5100
run 10008 1
at 11000
run 10000 1
run 10040 2
at 12000
run 10080 1
irq 14 10084
at 12500
run 100c0 2
at 13000
run 10080 3
at 14000
run 100c8 1
eret 10084
at 14500
run 10084 2
at 15000
run 10048 2
at 16000
run 10004 1
run 10080 1
END
perl "$source/tests/support/path_file.pl" program.bin 10000 <flow >path || exit 1
"$pugmark" record --quiet --from path --protocol etmv4 --core Cortex-A53 --times 1 --out trace || exit 1

table() { "$pugmark" profile --quiet --times --csv "$@" --elf program.elf trace 2>said; }
table >functions.csv || fail "exit $?: $(cat said)"
# of FUNCTION [CALLER] FIELD...: fields of a row
of() {
  local file=$1 function=$2 caller=$3
  shift 3
  awk -F, -v f="\"$function\"" -v c="$caller" -v fields="$*" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; count = split(fields, names, " "); next }
    $1 == f && $2 == c { for (i = 1; i <= count; i++) printf "%s%s", $(at[names[i]]), i < count ? " " : "\n" }' "$file"
}
same() { [[ $2 == "$3" ]] || fail "$1: '$2', not '$3'"; }
near() { # WHAT GOT WANTED: each within 20, for instructions take time, too
  local got wanted i
  read -ra got <<<"$2"
  read -ra wanted <<<"$3"
  [[ ${#got[@]} == "${#wanted[@]}" ]] || { fail "$1: '$2', not '$3'"; return; }
  for i in "${!got[@]}"; do
    ((got[i] >= wanted[i] - 20 && got[i] <= wanted[i] + 20)) || { fail "$1: '$2', not '$3'"; return; }
  done
}
same "calls of outer" "$(of functions.csv outer '' calls cut)" "2 0"
near "outer" "$(of functions.csv outer '' shortest mean longest total total_without_interrupts own)" "3000 4000 5000 8000 6000 4000"
same "calls of inner" "$(of functions.csv inner '' calls cut)" "4 1"
near "inner" "$(of functions.csv inner '' shortest longest total_without_interrupts)" "1000 3000 3000"
near "isr" "$(of functions.csv isr '' calls shortest longest own)" "1 2000 2000 1000"
same "distances of outer" "$(of functions.csv outer '' distances)" 1
near "distances of outer" "$(of functions.csv outer '' nearest mean_distance farthest)" "10000 10000 10000"
table --callers >callers.csv || fail "--callers: exit $?: $(cat said)"
near "inner by outer" "$(of callers.csv inner '"outer"' calls shortest longest)" "2 1000 3000"
near "inner by isr" "$(of callers.csv inner '"isr"' calls shortest longest)" "1 1000 1000"
near "inner by _start" "$(of callers.csv inner '"_start"' calls shortest longest)" "1 1000 1000"

# The longest call, with its callers and what it called.
table >/dev/null
"$pugmark" calls --quiet --summary --by function --json --rows 0 --elf program.elf trace >functions.json || fail "--json: exit $?"
"$pugmark" calls --quiet --summary --by caller --json --rows 0 --elf program.elf trace >callers.json || fail "--json: exit $?"
grep '"function": "outer"' functions.json | grep -q '"worst": {"took": [0-9]*, "offset": [0-9]*, "called_by": \["_start"\], "callees": \[{"function": "inner", "calls": 1, "took": ' ||
  fail "no worst call of outer: $(grep outer functions.json)"
grep '"function": "inner"' functions.json | grep -q '"called_by": \["outer", "_start"\]' || fail "no path of inner's worst call"
"$pugmark" profile --quiet --times --elf program.elf trace >text
grep -qE '^ +longest: [0-9]+ [a-z]+, trace offset [0-9]+, called by' text || fail "text: $(cat text)"
offset=$(of functions.csv outer '' longest_offset)
"$pugmark" trace --quiet --around "$offset" --elf program.elf trace 2>/dev/null | grep -q outer || fail "outer is not at its offset $offset"

# How calls are spread.
histogram() { "$pugmark" profile --quiet --histogram inner "$@" --elf program.elf trace 2>said; }
histogram --csv >spread || fail "--histogram: exit $?: $(cat said)"
same "calls in the histogram" "$(awk -F, 'NR > 1 { sum += $3 } END { print sum }' spread)" 4
same "short ones" "$(awk -F, 'NR > 1 && $1 <= 1000 && $2 >= 990 { print $3 }' spread)" 3
histogram --json >spread.json
same "as JSON" "$(grep -oE '"calls": [0-9]+' spread.json | awk '{ sum += $2 } END { print sum }')" 4
histogram >spread.txt
grep -qE '^inner: 4 calls, in [a-z]+: shortest [0-9]+, p50 [0-9]+, p90 [0-9]+, p99 [0-9]+, longest [0-9]+$' spread.txt || fail "text: $(cat spread.txt)"
"$pugmark" profile --quiet --histogram iner --elf program.elf trace >out 2>said && fail "a function that is not there: exit 0"
grep -q "is inner meant?" said || fail "no hint: $(cat said)"

# The report has the same.
"$pugmark" report --quiet --elf program.elf --output page.html trace || fail "report: exit $?"
"$pugmark" profile --quiet --stacks --elf program.elf --output saved trace && "$pugmark" report --quiet --output saved.html saved || fail "report of a profile: exit $?"
((bad == 0)) || exit 1
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [[ -z $browser ]] || ! command -v node >/dev/null; then
  echo "skipped: reading the page back needs chromium and node"
  exit 77
fi
node "$source/tests/report/times.mjs" "$browser" "$work/page.html" functions.json callers.json || bad=1
exit $bad
