#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What --save kept decodes to exactly what was shown: a FILE for a connection without loss, a FOLDER with its gaps, up to
# the message where the disk was full. Between reading and decoding there is room; what does not fit is counted.
#   live_save.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
# shellcheck source=tests/support/live_peer.sh
. "$source/tests/support/live_peer.sh"

sync=000000000080 hi=01480169010a
# Lines without their indexes, which count from each connection's begin in a folder, and without the buffers' names.
lines() { sed -E '/^# buffer|^\{"buffer"/d; s/^ *[0-9]+ {2}//; s/"index": [0-9]+, //' "$1"; }

# same FOLDER COMMAND...: the folder says what was shown, which is in `out`.
same() {
  local folder=$1
  shift
  timeout 60 "$pugmark" "$@" "$folder" >again 2>again.said
  cmp -s <(lines out) <(lines again) || fail "$*: not what was shown: $(diff <(lines out) <(lines again) | head -n 5) $(head -n 3 again.said)"
}

# ---- a folder: three connections, one of which ends inside a packet
for command in list "list --format jsonl" "list --packets" itm; do
  rm -rf kept
  play $sync $hi 4d -- $sync $hi 0e0f10 -- 0121 $sync 0122
  # shellcheck disable=SC2086  # words
  timeout 60 "$pugmark" $command --retry=500ms --save kept/ "tcp:127.0.0.1:$port" >out 2>said
  [[ -s out ]] || fail "$command: nothing was shown: $(cat said)"
  # shellcheck disable=SC2086
  same kept $command
done
[[ $(grep -c '^connection_[123]=20.*Z to 20.*Z, [0-9]* bytes$' kept/trace.ini) == 3 ]] || fail "no times: $(cat kept/trace.ini)"
[[ $(od -An -tx1 kept/connection_1.bin | tr -d ' \n') == $sync${hi}4d ]] || fail "not saved as it came"
play $sync $hi
timeout 60 "$pugmark" itm --save kept/ "tcp:127.0.0.1:$port" >out 2>said
[[ $? == 2 ]] && grep -q 'the folder holds files' said || fail "a folder that holds files: $(cat said)"
# Joined midway, without a synchronisation.
rm -rf kept
play $hi
timeout 60 "$pugmark" list --save kept/ "tcp:127.0.0.1:$port" >out 2>said
grep -q 'Data: 0x48' out || fail "nothing is guessed: $(cat out said)"
same kept list

# Program flow in frames: what was said of it, and its program, are in the folder.
crash=$source/examples/crash registers=(--protocol etmv4i --transport coresight --elf "$crash/crash")
while read -r name value; do registers+=(--set "$name=$value"); done \
  < <(tr -d '\r' <"$crash/trace_0.ini" | sed -nE 's/^(TRCCONFIGR|TRCTRACEIDR|TRCIDR[0128])\(.*\)=(.*)/\1 \2/p')
for command in list pc; do
  rm -rf kept
  play "file:$crash/trace.bin" -- "file:$crash/trace.bin"
  timeout 60 "$pugmark" $command --retry=500ms --save kept/ "${registers[@]}" "tcp:127.0.0.1:$port" >out 2>said
  [[ -s out ]] || fail "$command: nothing was shown: $(cat said)"
  same kept $command
done
rm -rf kept
play "file:$crash/trace.bin" hold
timeout 60 "$pugmark" live --once --pause 200ms --save kept/ "${registers[@]}" "tcp:127.0.0.1:$port" >out 2>said
timeout 60 "$pugmark" trace --last 50 --no-pager kept >again 2>/dev/null
cmp -s out again || fail "live: not what trace shows of the folder: $(cat said)"

# ---- the reader is slower than the peer: nobody reads the output before the peer has sent everything
perl -e 'print "\0\0\0\0\0\x80"; print join "", map { ("\0\0\0\0\0\x80") x ($_ % 100 == 0), "\x03" . sprintf("%4d", $_ % 10000) . "\x01\n" } 1..2000000' >much
size=$(stat -c %s much)
timeout 60 "$pugmark" itm --protocol itm much >whole.out 2>/dev/null
# slow OPTION...: with the words of `under` in front
under=()
slow() {
  rm -f sent fifo
  mkfifo fifo
  play file:much "touch:$work/sent"
  timeout 60 "${under[@]}" "$pugmark" itm "$@" "tcp:127.0.0.1:$port" >fifo 2>said &
  reader=$!
  { for _ in {1..400}; do [[ -e sent ]] && break; sleep 0.05; done; [[ -e sent ]] || touch waited; cat; } <fifo >out
  wait $reader
  [[ ! -e waited ]] || fail "$*: the peer had to wait"
}
# Of all gaps together: a slow reader has several.
dropped() { sed -n 's/.*: \([0-9]*\) bytes were dropped.*/\1/p' said | awk '{ all += $1 } END { printf "%d", all }'; }
slow --save all
cmp -s all much || fail "--save: not as it came"
cmp -s out whole.out || fail "--save: not all was shown"
[[ ! -s said ]] || fail "--save: $(cat said)"
# Without it there is room for 4 MiB and what a pipe and the kernel hold; what comes then is dropped, and counted.
slow
[[ $(dropped) -gt 1000000 && $(dropped) -lt $((size - 4000000)) ]] || fail "no room of 4 MiB: $(cat said)"
head -c 1000000 out | cmp -s - <(head -c 1000000 whole.out) || fail "what came first is not shown"
# The ring has the newest bytes.
slow --ring 500000
[[ $(dropped) -gt $((size / 3)) ]] || fail "--ring: $(cat said)"
tail -c 100000 out | cmp -s - <(tail -c 100000 whole.out) || fail "--ring: the end is not shown"
# The disk is full after a million bytes: saving stops, decoding does not, and what was saved is what was shown so far.
under=(bash -c 'trap "" XFSZ; ulimit -f 1000; exec "$@"' bash)
slow --save part
under=()
grep -q 'File too large after [0-9]* bytes: saving stopped' said || fail "a full disk: $(cat said)"
[[ $(stat -c %s part) -le 1024000 ]] && cmp -s part <(head -c "$(stat -c %s part)" much) || fail "a full disk: not as it came"
timeout 60 "$pugmark" itm part 2>/dev/null >again
cmp -s again <(head -c "$(stat -c %s again)" out) || fail "a full disk: what was saved is not what was shown"
[[ $(dropped) -gt 0 ]] || fail "a full disk: the room of 4 MiB has no end: $(cat said)"

# An element says it, in place.
mkfifo fifo.list
play file:much "touch:$work/all-sent"
timeout 60 "$pugmark" list --format jsonl --ring 4000 "tcp:127.0.0.1:$port" >fifo.list 2>said &
reader=$!
{ for _ in {1..400}; do [[ -e all-sent ]] && break; sleep 0.05; done; cat; } <fifo.list | grep '"dropped"' >out
wait $reader
[[ $(sed -n 's/.*"reason": "dropped", "bytes": \([0-9]*\)}.*/\1/p' out | head -n 1) -gt 1000 ]] || fail "no element: $(head -n 2 out)"
exit $bad
