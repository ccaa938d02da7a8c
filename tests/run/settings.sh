#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Settings and programs that a single file of trace can't be decoded with: what is said of each.
set -u
bin=$1 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '\377' >"$work/trace"

# said STATUS TEXT OPTION...: pugmark list --packets ends with this status and says this, in lines lines.
lines=1
said() {
  local status=$1 wanted=$2 text code=0
  shift 2
  text=$("$bin/pugmark" list --packets "$@" 2>&1 >"$work/pcs") || code=$?
  [[ $code == "$status" && $text == *"$wanted"* && $(grep -c . <<<"$text") == "$lines" ]] && return
  echo "[$*]: expected $lines lines with '$wanted' and $status, got '$text' and $code"
  bad=1
}

# refused TEXT OPTION...: a use that can't be, of a file of trace; accepted OPTION...: one that can.
refused() { said 2 "$@" "$work/trace"; }
accepted() { lines=0 said 0 "" "$@" "$work/trace"; }

refused "xlen must be 32 or 64" --protocol ntrace --set xlen=48
refused "implicit_return must be a number" --protocol ntrace --set implicit_return=yes
refused "mode must be detect, btm or htm" --protocol ntrace --set mode=9
refused "align must be auto, start or search" --protocol ntrace --set align=maybe
refused "dialect must be ratified or sifive-pre1" --protocol ntrace --set dialect=other
refused "src_bits must be 0 to 12" --protocol ntrace --set src_bits=13
refused "MAX_PKT_LEN must be 12 to 4096" --protocol osd-ctm --set MAX_PKT_LEN=3
refused "framing auto, dtd, dtd-le or message" --protocol osd-stm --set framing=other
refused "expected NAME=VALUE" --protocol ntrace --set implicit_return
refused "no protocol 'other'; there are ETMV4I ETE" --protocol other
refused "no transport 'other'; there are plain coresight orbflow nexus osd encapsulation" \
  --protocol ntrace --transport other
refused "trTeFormat is not N-Trace" --quiet --protocol ntrace --set trTeControl=0

# Names that nobody reads are told, with those that are known; a name may have another that wins.
lines=2
refused "--set xlem: no such setting" --protocol ntrace --set xlem=64 --set xlen=64
refused "N-Trace, framed as nexus: src_bits src_id align" --protocol ntrace --set xlem=64
refused "--set src_id: no such" --protocol etmv4i --set src_id=16
refused " TRCCONFIGR TRCTRACEIDR " --protocol etmv4i --set trctraceidr=16
refused "ETMV3, framed as coresight: flags fsyncs" --protocol etmv3 --transport coresight \
  --set ETMCR=0 --set ETMIDR=0 --set ETMCCER=0 --set ETMTRACEIDR=16 --set dstreem=1
refused "E-Trace, framed as raw: type_bits" --protocol etrace --transport raw --set iaddress_with_p=32
refused "--set hart_index_bits: no such" --protocol etrace --set hart_index_bits=3
lines=3
refused "--set b: no such" --protocol ntrace --set a=64 --set b=64
lines=1
refused "TRCCONFIGR: not a number" --protocol etmv4i --set TRCCONFIGR=c1
refused "layout: a number, not a word" --protocol etrace --set layout=1
accepted --protocol etmv4i --set alias=0x1000 --set TRCTRACEIDR=3
accepted --protocol ntrace --set align=start --set mode=6 --set xlen=32 --set xlen=64 \
  --set src_id=0 --set zcmt=1 --set zcmp_zcmt=1
both="--set iaddress_width_p=64 --set iaddress_width=63 --set discovery_info_1=0
  --set full_address=1 --set trTeInstNoAddrDiff=1 --set trTeInstFeatures=1 --set srcid=3
  --set src_id=3 --set srcid_bits=4 --set trTeSrcBits=4 --set trTeInhibitSrc=1 --set trTsEnable=0
  --set trTsWidth=64 --set timestamp_bytes=8 --set type_bits_3=1"
# shellcheck disable=SC2086
lines=1 said 1 "packet" --protocol etrace $both "$work/trace"

refused "--image $work/image: expected FILE@ADDRESS" --protocol ntrace --image "$work/image"
refused "--elf a@b: expected FILE or FILE@BIAS" --protocol ntrace --elf a@b
refused "--source three: not a number" --protocol ntrace --source three
refused "--buffer is for snapshots" --protocol ntrace --buffer 1
said 2 "--transport is for single files" --transport plain "$work"
said 3 "$work/none: cannot use as a program: No such file" --protocol ntrace \
  --elf "$work/none" "$work/trace"
said 3 "$work: cannot use as a memory image: not a file" --protocol ntrace \
  --image "$work@0x1000" "$work/trace"
exit $bad
