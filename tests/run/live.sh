#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Trace from a stream is decoded as it comes: what was said is there before the stream ends, and in
# the end it is the same as of a file, however the bytes trickle in.
#   live.sh BIN SOURCE
set -u
pugmark=$1/pugmark capture=$2/tests/captures/ntrace-rv64 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Waits for a file to have something in it; false after ten seconds.
comes() {
  for _ in {1..200}; do [[ -s $1 ]] && return; sleep 0.05; done
  return 1
}

printf '\0\0\0\0\0\x80\x01H\x01i\x01\n' >"$work/swo"
{ cat "$work/swo"; comes "$work/text" || touch "$work/late"; printf '\x01!\x01\n'; } |
  timeout 60 "$pugmark" itm --protocol itm - >"$work/text" || { echo "itm: failed"; bad=1; }
[[ ! -e $work/late ]] || { echo "itm: nothing before the stream ended"; bad=1; }
[[ $(cat "$work/text") == $'Hi\n!' ]] || { echo "itm: another text"; bad=1; }

options=(--protocol ntrace --set src_id=2 --image "$capture/memory_0.bin@0x11200")
while IFS== read -r name value; do
  case $name in src_bits | implicit_return | sequential_jump | extend_addr_msb | ts | xlen) options+=(--set "$name=$value") ;; esac
done < <(tr -d '\r' <"$capture/trace_0.ini")
size=$(stat -c %s "$capture/trace.bin")
for command in pc "pc --by-thread" list profile "list --packets"; do
  # shellcheck disable=SC2086  # words
  "$pugmark" $command --quiet "${options[@]}" "$capture/trace.bin" >"$work/file" 2>"$work/said"
  [[ -s $work/file ]] || { echo "$command: nothing"; bad=1; }
  # shellcheck disable=SC2086
  { for ((at = 0; at < size; at += 997)); do tail -c +$((at + 1)) "$capture/trace.bin" | head -c 997; done; } |
    timeout 60 "$pugmark" $command --quiet "${options[@]}" - >"$work/stream" 2>>"$work/said"
  cmp -s "$work/file" "$work/stream" || { echo "$command: not the same from a stream"; bad=1; }
done
{ head -c $((size / 2)) "$capture/trace.bin"; comes "$work/pc" || touch "$work/late"; tail -c +$((size / 2 + 1)) "$capture/trace.bin"; } |
  timeout 60 "$pugmark" pc --quiet "${options[@]}" - >"$work/pc"
[[ ! -e $work/late ]] || { echo "pc: nothing before the stream ended"; bad=1; }
"$pugmark" pc --quiet "${options[@]}" "$capture/trace.bin" | cmp -s - "$work/pc" || { echo "pc: not the same from a slow stream"; bad=1; }

# Who needs the whole trace has it read: sources that nobody named, sizes.
timeout 60 "$pugmark" info "${options[@]}" - <"$capture/trace.bin" | grep -q "trace: -, $size bytes" || { echo "info: another size"; bad=1; }

# Memory does not grow with the stream: 1 GiB of it through 200 MiB of address space.
most=$((200 * 1024)) long=1024
ldd "$1/pugmark" 2>/dev/null | grep -qE 'lib(a|t)san' && most=unlimited # sanitizers take all memory there is
[[ $(head -c 2 "$1/pugmark") != "#!" ]] || most=unlimited long=16 # and so do emulators, which are slow, too
{ cat "$work/swo"; dd if=/dev/zero bs=1M count=$long 2>/dev/null; printf '\x80'; } |
  (ulimit -v $most; timeout 120 "$pugmark" itm --quiet --protocol itm -) >"$work/text" || { echo "a long stream: failed"; bad=1; }
[[ $(cat "$work/text") == Hi ]] || { echo "a long stream: another text"; bad=1; }
exit $bad
