#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Text on stimulus ports and DWT events, from captures made here: plain SWO, ORBFLOW, CoreSight frames.
set -eu
bin=$1 source=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
want() { # NAME WANTED GOT
    [[ $2 == "$3" ]] || { printf '%s:\nwant %q\ngot  %q\n' "$1" "$2" "$3"; exit 1; }
}
bytes() { for byte in $*; do printf "\\x$byte"; done; }
async="00 00 00 00 00 80"

# "Hi!" newline byte by byte and a word "abc" on port 0, "x" on port 3, times after 10 and 90 cycles.
bytes $async 01 48 01 69 19 78 01 21 01 0a c0 0a 70 03 61 62 63 00 c0 5a 01 0a >"$tmp/swo.bin"
want text $'Hi!\nabc' "$("$bin/pugmark" itm "$tmp/swo.bin" 2>"$tmp/err")"
want lost "pugmark: trace was lost before offset 19" "$(cat "$tmp/err")"
want port x "$("$bin/pugmark" itm --port 3 "$tmp/swo.bin")"
want cycles $'[            10] Hi!\n[           100] abc' \
    "$("$bin/pugmark" itm --quiet --timestamps "$tmp/swo.bin")"
want seconds $'[      0.000010] Hi!\n[      0.000100] abc' \
    "$("$bin/pugmark" itm --quiet --clock 1000000 "$tmp/swo.bin")"

# Only what was written then: local timestamps add up, a write has the next one.
want then abc "$("$bin/pugmark" itm --time 11, "$tmp/swo.bin" 2>/dev/null)"
want before 'Hi!' "$("$bin/pugmark" itm --time ,100 "$tmp/swo.bin" 2>/dev/null)"
want seconds_then abc "$("$bin/pugmark" itm --quiet --set timestamp_hz=1000 --time 0.1,0.101 "$tmp/swo.bin")"
want piped 'Hi!' "$("$bin/pugmark" itm --quiet --protocol itm --time 10,11 - <"$tmp/swo.bin")"
want no_seconds 2 "$("$bin/pugmark" itm --time 0.1, "$tmp/swo.bin" 2>/dev/null; echo $?)"
want unit "times: ticks (trace timestamps)" "$("$bin/pugmark" info --protocol itm "$tmp/swo.bin" 2>/dev/null | grep ^times)"

want elsewhere "pugmark: $tmp/swo.bin: nothing was written to port 7; there is on port 0, 3" \
    "$("$bin/pugmark" itm --port 7 "$tmp/swo.bin" 2>&1 | grep port)"

# Without any ASYNC.
bytes 01 48 01 69 >"$tmp/unsynced.bin"
want unsynced "" "$("$bin/pugmark" itm "$tmp/unsynced.bin")"
want assumed Hi "$("$bin/pugmark" itm --set assume_sync=1 "$tmp/unsynced.bin")"

# One ORBFLOW frame of source 1: tag, ASYNC, "O", checksum.
bytes 02 01 01 01 01 01 05 80 01 4f 2f 00 >"$tmp/orbflow.bin"
want orbflow O "$("$bin/pugmark" itm --transport orbflow "$tmp/orbflow.bin")"

# One frame of the formatter: id 1, ASYNC, "K" and a newline, the rest of source 0.
bytes 03 00 00 00 00 00 80 01 4a 01 0a 00 01 00 00 10 >"$tmp/frames.bin"
want frames K "$("$bin/pugmark" itm --transport coresight "$tmp/frames.bin")"

# The same from a TPIU, a FSYNC in front, and a HSYNC in the frame.
bytes ff ff ff 7f 03 00 00 00 ff 7f 00 00 80 01 4a 01 0a 00 01 00 00 10 >"$tmp/tpiu.bin"
want tpiu K "$("$bin/pugmark" itm --transport coresight --set fsyncs=1 --set hsyncs=1 "$tmp/tpiu.bin")"

# What the DWT says, in words.
bytes $async 0e 0f 10 47 aa b8 00 08 4f 10 00 00 20 8f 07 00 00 00 8d 2a 0e 0f 20 >"$tmp/dwt.bin"
want words '         6  00  ITMTRACE(exception 15 SysTick entered)
         9  00  ITMTRACE(data write 0x20000010 = 7 by 0x0800b8aa (comparator 0))
        24  00  ITMTRACE(data write comparator 0 = 0x2a)
        26  00  ITMTRACE(exception 15 SysTick exited)' \
    "$("$bin/pugmark" list --protocol itm --type ITMTRACE "$tmp/dwt.bin")"
want watched '        24  00  ITMTRACE(data write 0x20000014 = 0x2a (comparator 0))' \
    "$("$bin/pugmark" list --protocol itm --type ITMTRACE --set DWT_COMP0=0x20000014 --from 24 --to 25 "$tmp/dwt.bin")"
want json '{"index": 26, "source": 0, "type": "ITMTRACE", "kind": "hardware source", "exception": 15, "overflow": false, "words": "exception 15 SysTick exited"}' \
    "$("$bin/pugmark" list --protocol itm --format jsonl --from 26 --type ITMTRACE "$tmp/dwt.bin")"
want reference '        26  00  ITMTRACE(ITM_DWT (desc: 0x1; Data: 0x200f) )' \
    "$("$bin/pugmark" list --protocol itm --reference --from 26 --type ITMTRACE "$tmp/dwt.bin")"

# STM messages are one element, in the reference's manner one for each packet.
bytes ff ff ff ff ff ff ff ff ff ff 0f 0f 30 41 41 10 04 f2 0e >"$tmp/stm.bin"
want message '        14  00  SWTRACE( (Ma:0x41; Ch:0x00) [01 02 ]; )
        17  00  SWTRACE( (Ma:0x41; Ch:0x00) +Mrk )' \
    "$("$bin/pugmark" list --protocol stm --type SWTRACE "$tmp/stm.bin")"
want packets '        15  00  SWTRACE( (Ma:0x41; Ch:0x00) 0x01; )' \
    "$("$bin/pugmark" list --protocol stm --type SWTRACE --reference --to 16 "$tmp/stm.bin")"
want payload '{"index": 14, "source": 0, "type": "SWTRACE", "master": 65, "channel": 0, "bits": 8, "value": "0x0", "flags": ["id valid"], "payload": "0102"}' \
    "$("$bin/pugmark" list --protocol stm --type SWTRACE --format jsonl --to 15 "$tmp/stm.bin")"
set +e
"$bin/pugmark" itm --protocol stm "$tmp/stm.bin" 2>"$tmp/err"
want no-itm 3 $?
grep -q 'no ITM in it' "$tmp/err"
# A perf.data is none of SWO, either: its bytes are not taken for packets.
"$bin/pugmark" record --quiet --from "$source/tests/captures/etmv4-a64/path" --protocol etmv4 --limit 100 --perf "$tmp/perf.data"
"$bin/pugmark" itm "$tmp/perf.data" 2>"$tmp/err"
want no-itm-in-perf 3 $?
grep -q 'no ITM in it' "$tmp/err"
