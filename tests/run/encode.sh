#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# encode.sh BIN: packets that are written in words come back from the lists, with all that they carry.
set -eu
bin=$1
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"

# same WHAT: "$work/got" is what it must be.
same() { diff "$work/wanted" "$work/got" || { echo "$1 differs"; exit 1; }; }

# The encapsulation: flows, nulls, sources with types of their own, source 0xffff, timestamps.
"$bin/pugmark" encode --set src_bits=16 --set timestamp_bytes=2 --set type_bits_65535=8 - >"$work/trace" <<'LINES'
packet 1 0 1f
idle 2 flow=3
alignment flow=1
packet 0xffff 200 deadbeef flow=2 time=0x1234      # of a type that is no E-Trace
packet 1 0 73 time=7
LINES
"$bin/pugmark" list --packets --protocol etrace --set src_bits=16 --set timestamp_bytes=2 --set type_bits_65535=8 \
  "$work/trace" | grep ENCAP >"$work/got"
printf '%s\t%s\n' >"$work/wanted" \
  'Idx:0; SRC:1; [0x01 0x01 0x00 0x1f ];' 'ENCAP_PKT : len=1 flow=0 type=0' \
  'Idx:4; SRC:0; [0x60 ];' 'ENCAP_NULL_IDLE : flow=3' 'Idx:5; SRC:0; [0x60 ];' 'ENCAP_NULL_IDLE : flow=3' \
  'Idx:6; SRC:0; [0xa0 ];' 'ENCAP_NULL_ALIGN : flow=1' \
  'Idx:7; SRC:65535; [0xc5 0xff 0xff 0x34 0x12 0xc8 0xef 0xbe 0xad 0xde ];' 'ENCAP_PKT : len=5 flow=2 ts=0x1234 type=200' \
  'Idx:17; SRC:1; [0x81 0x01 0x00 0x07 0x00 0x73 ];' 'ENCAP_PKT : len=1 flow=0 ts=0x7 type=0'
sed -i 's/0xef 0xbe 0xad 0xde/0xde 0xad 0xbe 0xef/' "$work/wanted"
same "the encapsulation"
"$bin/pugmark" list --packets --protocol etrace --set src_bits=16 --set timestamp_bytes=2 --set type_bits_65535=8 \
  --set flow=2,3 --format jsonl "$work/trace" | grep -c '"flow": [23]' >"$work/got"
echo 3 >"$work/wanted"
same "a choice of flows"

# What the file of a source says of its type field is overruled by the command line: of all sources, or of this one.
"$bin/pugmark" encode --set src_bits=4 --set type_bits=5 -o "$work/trace" - <<'LINES'
packet 1 17 deadbeef
packet 2 6 0102
LINES
printf 'src_bits = 4\nsource 1 = one\nsource 2 = two\n' >"$work/params"
printf 'xlen = 64\ntype_bits = 2\n' | tee "$work/one" >"$work/two"
types() { "$bin/pugmark" list --packets --protocol etrace --params "$work/params" --format jsonl "$@" "$work/trace" | sed -n 's/.*"type": \([0-9]*\).*/\1/p' | xargs; }
types >"$work/got"
types --set type_bits=5 >>"$work/got"
types --set type_bits_1=5 >>"$work/got"
types --set type_bits_2=5 >>"$work/got"
printf '%s\n' "1 2" "17 6" "17 2" "1 6" >"$work/wanted"
same "types of the command line"

# A bit stream: a run of nulls ends with null.alignment, syncs too; three bits late.
{ echo sync; for i in {1..20}; do echo "packet 0 0 1f"; echo "nulls 3"; done; } |
  "$bin/pugmark" encode --set framed=0 --set shift=3 -o "$work/trace" -
"$bin/pugmark" list --packets --protocol etrace --set bit_stream=1 "$work/trace" | grep -c 'ENCAP_PKT\|NULL_ALIGN' >"$work/got"
echo 40 >"$work/wanted"
same "the bit stream"

# A length above 31 cannot be encoded.
if printf 'packet 0 0 %064d\n' 1 | "$bin/pugmark" encode - >/dev/null 2>&1; then
  echo "32 bytes were encoded"
  exit 1
fi

# What it does not know it refuses: settings, values, packets, kinds of trace.
for wrong in "--set nonsense=1" "--set src_bits=17" "--set MAX_PKT_LEN=4 --format osd" "--set dest --format osd" "--format ctm"; do
  if "$bin/pugmark" encode $wrong - </dev/null >/dev/null 2>&1; then
    echo "taken: $wrong"
    exit 1
  fi
done
# What has no room in its field, too.
for wrong in "300 2 01" "1 6 01" "2 9 01" "1 2 01 time=256"; do
  if echo "packet $wrong" | "$bin/pugmark" encode --set src_bits=8 --set type_bits=2 --set type_bits_2=3 --set timestamp_bytes=1 - >/dev/null 2>"$work/said"; then
    echo "encoded: packet $wrong"
    exit 1
  fi
  grep -q "line 1: .*does not fit" "$work/said"
done
echo "packet 255 2 01 time=255" | "$bin/pugmark" encode --set src_bits=8 --set type_bits=2 --set timestamp_bytes=1 - >/dev/null
takes() { # line
  echo "$1" | "$bin/pugmark" encode --format osd - >/dev/null 2>"$work/said"
}
for line in "stm 1 32 0xffffffff 65535 0xffffffff" "ctm 1 16 0xffffffff 0xffff 0xffff 31" "stm 1 64 0 0 0xffffffffffffffff"; do
  takes "$line"
done
for line in "stm 1 32 0x100000000 1 1" "stm 1 32 5 65536 1" "stm 1 32 5 65535 0x100000000" "stm 1 16 5 1 0x10000" \
  "ctm 1 16 0x100000000 1 1 0" "ctm 1 16 5 0x10000 0x2000 0" "ctm 1 16 5 0x1000 0x10000 0" "ctm 1 48 5 0x1000000000000 1 0" "ctm 1 16 5 1 1 32"; do
  if takes "$line"; then
    echo "encoded: $line"
    exit 1
  fi
  grep -q "line 1: .*does not fit" "$work/said"
done
echo "packet 1 0" >"$work/lines"
if "$bin/pugmark" encode -o "$work/none" "$work/lines" 2>"$work/said" || [[ -e $work/none ]]; then
  echo "half a packet was encoded"
  exit 1
fi
grep -q "line 1" "$work/said"

# Open SoC Debug: modules are distinguished by what they send; an address has 48 bits.
for framing in dtd dtd-le; do
  "$bin/pugmark" encode --set framing=$framing --format osd - >"$work/trace" <<'LINES'
ctm 1 48 16 0x800000001000 0x800000002000 0x1b
stm 4 64 17 4 0x48
overflow 1 3
ctm 1 48 32 0x800000003000 0x800000001004 0x07
stm 4 64 33 4 0x49
LINES
  "$bin/pugmark" list --protocol osd-ctm "$work/trace" | sed -E 's/^ *[0-9]+ *//; /TIMESTAMP|CONTEXT|EO_TRACE/d' >"$work/got"
  cat >"$work/wanted" <<'LINES'
01  TRACE_ON( [begin or filter])
01  I_RANGE_NOPATH(first 0x800000002000:[next 0x800000001000] num_i(0) last 0x800000002000 call [entry] )
04  SWTRACE( (Ma:0x04; Ch:0x04) 0x0000000000000048;  [ TS=0x000000000011]; )
01  TRACE_ON( [overflow] missed 3)
01  I_RANGE_NOPATH(first 0x800000001004:[next 0x800000003000] num_i(0) last 0x800000001004 return [entry] )
04  SWTRACE( (Ma:0x04; Ch:0x04) 0x0000000000000049;  [ TS=0x000000000021]; )
LINES
  same "the modules, $framing"
  "$bin/pugmark" list --format jsonl --protocol osd-ctm "$work/trace" | grep -c '"missed": 3\|"call": true\|"return": true' >"$work/got"
  echo 3 >"$work/wanted"
  same "what JSON says of them, $framing"
done
