#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Settings and programs that a single file of trace can't be decoded with: what is said of each.
set -u
bin=$1 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '\377' >"$work/trace"

# refused TEXT OPTION...: pugmark pc says TEXT, and by its status that nothing was decoded.
refused() {
  local wanted=$1 said code=0
  shift
  said=$("$bin/pugmark" pc "$@" "$work/trace" 2>&1) || code=$?
  [[ $code == [23] && $said == *"$wanted"* ]] && return
  echo "[$*]: expected '$wanted' and 2 or 3, got '$said' and $code"
  bad=1
}

refused "xlen must be 32 or 64" --protocol ntrace --set xlen=48
refused "implicit_return must be a number" --protocol ntrace --set implicit_return=yes
refused "mode must be detect, btm or htm" --protocol ntrace --set mode=9
refused "align must be auto, start or search" --protocol ntrace --set align=maybe
refused "dialect must be ratified or sifive-pre1" --protocol ntrace --set dialect=other
refused "src_bits must be 0 to 12" --protocol ntrace --set src_bits=13
refused "MAX_PKT_LEN must be 12 to 4096" --protocol osd-ctm --set MAX_PKT_LEN=3
refused "framing auto, dtd, dtd-le or message" --protocol osd-stm --set framing=other
refused "expected NAME=VALUE" --protocol ntrace --set implicit_return
refused "no protocol 'other'" --protocol other
refused "$work/none: cannot use as a program: No such file" --protocol ntrace --elf "$work/none"
refused "$work: cannot use as a memory image: not a file" --protocol ntrace --image "$work@0x1000"
refused "'three' is not a number" --protocol ntrace --source three
exit $bad
