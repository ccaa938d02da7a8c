#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `top` and `live` show on terminals of 80 x 24, 200 x 60 and others: in its lines, with keys, and after a change of
# the size.
#   live_screen.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
# shellcheck source=tests/support/live_peer.sh
. "$source/tests/support/live_peer.sh"
command -v python3 >/dev/null || { echo "no python3: skipped"; exit 77; }
python3 -c 'import os; os.openpty()' 2>/dev/null || { echo "no pseudo terminals: skipped"; exit 77; }
screen=(python3 "$source/tests/support/screen.py")
firmware=$source/examples/firmware

play "repeat:200:0.1:$firmware/swo.bin" hold
"${screen[@]}" 24x80 wait:1.6 show:first key:s wait:0.6 show:all key:p wait:0.1 show:paused wait:0.8 show:still size:60x200 wait:0.6 \
  show:large key:r wait:0.2 show:reset size:8x40 wait:0.7 show:small key:o wait:0.6 show:source key:q -- \
  "$pugmark" top --elf "$firmware/firmware.elf" "tcp:127.0.0.1:$port" 2>said
code=$?
[[ $code == 0 ]] || fail "top: $code: $(cat said)"
head -n 1 first | grep -qE '^[0-9.]+ s, [0-9]+ bytes, [0-9]+ bytes a second, 0 losses, by now$' || fail "top: $(head -n 1 first)"
for words in 'SysTick' 'reading is out of range' 'move_valve' 'watchpoint 0: .* value 0xe' 'keys: p pause, s sort, r reset, o source, q quit'; do
  grep -q "$words" first || fail "top: no $words: $(cat first)"
done
head -n 1 all | grep -q 'by all$' || fail "top: s does not sort: $(head -n 1 all)"
grep -q '^paused; keys: p go on' paused && cmp -s paused still || fail "top: p does not pause: $(diff paused still)"
cmp -s <(sed '/^ *[0-9]* *[0-9]* [^a-z]*l/d' paused) <(sed '/^ *[0-9]* *[0-9]* [^a-z]*l/d' large) || fail "top: another page after a change of the size: $(diff paused large)"
[[ $(sed -nE '1s/.* s, ([0-9]+) bytes,.*/\1/p' reset) -gt 0 ]] && ! grep -q paused reset || fail "top: r: $(cat reset)"
count() { sed -nE 's/^SysTick +([0-9]+).*/\1/p' "$1"; }
[[ $(count reset) -lt $(count paused) ]] || fail "top: r does not reset: $(count paused), $(count reset)"
[[ $(wc -l <small) -le 8 ]] && grep -q SysTick small || fail "top: on 40 x 8: $(cat small)"
head -n 1 source | grep -q '^[0-9.]* s, ' || fail "top: o: $(cat source)"

crash=$source/examples/crash registers=(--protocol etmv4i --transport coresight --elf "$crash/crash")
while read -r name value; do registers+=(--set "$name=$value"); done \
  < <(tr -d '\r' <"$crash/trace_0.ini" | sed -nE 's/^(TRCCONFIGR|TRCTRACEIDR|TRCIDR[0128])\(.*\)=(.*)/\1 \2/p')
for size in 24x80 60x200; do
  play "file:$crash/trace.bin" hold
  "${screen[@]}" "$size" wait:1.5 show:shown int -- \
    "$pugmark" live --pause 300ms --last 12 "${registers[@]}" "tcp:127.0.0.1:$port" 2>said
  code=$?
  [[ $code == 0 || $code == 1 ]] || fail "live on $size: $code: $(cat said)"
  # Where libdw or LLVM is left out lines have no places or no instructions.
  grep -q '^ *2102dc ' shown || fail "live on $size: $(cat shown)"
  [[ $(grep -c '^ *2[0-9a-f]* ' shown) == 12 ]] || fail "live on $size: not 12 instructions: $(cat shown)"
done
exit $bad
