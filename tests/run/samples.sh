#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sampled addresses: N-Trace's in-circuit trace and sync messages, a DWT's packets.
set -eu
bin=$1
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
bytes() { for byte in $*; do printf "\\x$byte"; done; }
want() { # NAME WANTED GOT
  [[ $2 == "$3" ]] || { printf '%s:\nwant %q\ngot  %q\n' "$1" "$2" "$3"; exit 1; }
}
sifive="--protocol ntrace --set xlen=64 --set dialect=sifive-pre1"

# ICT with sync at 1006 (time 0x12), ICT at 1002, a sync message with SYNC 15 at 1000.
bytes 8c 3c 0c 81 4b 88 3c 09 17 24 3d 00 83 >"$tmp/points.nex"
want samples $'1006\n1002\n1000' "$("$bin/pugmark" pc --samples $sifive "$tmp/points.nex")"
want json '"kind": "pc sample", "address": "0x1006"' \
  "$("$bin/pugmark" list --format jsonl $sifive "$tmp/points.nex" | grep -o '"kind".*0x1006"')"
# Nothing else is a sample, and no sample is an executed instruction.
bytes 8c 38 0c 83 >"$tmp/watchpoint.nex"
want watchpoint "" "$("$bin/pugmark" pc --samples $sifive "$tmp/watchpoint.nex" 2>&1)"
want flow "" "$("$bin/pugmark" pc $sifive "$tmp/points.nex" 2>/dev/null)"

# DWT: ASYNC, a PC sample at 0x08000124, one while the core sleeps.
bytes 00 00 00 00 00 80 17 24 01 00 08 15 00 >"$tmp/swo.bin"
want dwt 8000124 "$("$bin/pugmark" pc --samples --protocol itm "$tmp/swo.bin")"
