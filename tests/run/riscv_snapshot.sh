#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# RISC-V and Open SoC Debug captures described as snapshots, and on the command line as one file.
set -eu
bin=$1 vectors=$2/../shared/vectors
if [[ ! -d $vectors ]]; then
  echo "no vectors at $vectors"
  exit 77
fi
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"

# snapshot FOLDER FORMAT TRACE DEVICE...: each device has its file already.
snapshot() {
  local folder=$1 format=$2 trace=$3 n=0
  shift 3
  cp "$trace" "$folder/trace.bin"
  {
    printf '[snapshot]\nversion=1.0\n\n[device_list]\n'
    for device in "$@"; do printf 'device%d=%s.ini\n' $((n++)) "$device"; done
    printf '\n[trace]\nmetadata=trace.ini\n'
  } >"$folder/snapshot.ini"
  printf '[trace_buffers]\nbuffers=buffer0\n\n[buffer0]\nname=RAM\nfile=trace.bin\nformat=%s\n' \
    "$format" >"$folder/trace.ini"
}

# device FILE TYPE SETTING...
device() {
  local file=$1 type=$2
  shift 2
  printf '[device]\nname=%s\nclass=trace_source\ntype=%s\n\n[regs]\n' "$(basename "$file" .ini)" \
    "$type" >"$file"
  printf '%s\n' "$@" >>"$file"
}

# One hart of four in an N-Trace stream.
harts=$work/harts
mkdir "$harts"
cp "$vectors/ntrace/multi/traps.elf" "$harts"
device "$harts/te1.ini" N-Trace src_bits=4 src_id=1 implicit_return=1 '[elf0]' file=traps.elf
snapshot "$harts" nexus "$vectors/ntrace/multi/four-harts.nex" te1
echo src_bits=4 >>"$harts/trace.ini"
xz -dc "$vectors/ntrace/multi/four-harts.src1.exp.xz" | grep -v @ >"$work/expected"
"$bin/pugmark" pc "$harts" | cmp - "$work/expected"
"$bin/pugmark" pc --protocol ntrace --set implicit_return=1 --set src_bits=4 --source 1 \
  --elf "$vectors/ntrace/multi/traps.elf" "$vectors/ntrace/multi/four-harts.nex" |
  cmp - "$work/expected"

# A program for 32 bits says so itself; code at an alias; an encoder's registers.
"$bin/pugmark" pc --protocol ntrace --elf "$vectors/ntrace/ref-basic32/basic32.elf" \
  "$vectors/ntrace/ref-basic32/htm.nex" >"$work/got"
xz -dc "$vectors/ntrace/ref-basic32/pcs.txt.xz" | cmp - "$work/got"
xz -dc "$vectors/ntrace/spec-vm/vm-htm.exp.xz" | grep -v @ >"$work/expected"
"$bin/pugmark" pc --protocol ntrace --set alias=0xffffffff00000000 --set trTeControl=0x01000060 \
  --elf "$vectors/ntrace/spec-vm/vm.elf" "$vectors/ntrace/spec-vm/vm-htm.nex" |
  cmp - "$work/expected"

# Core and system trace modules of one Open SoC Debug stream.
osd=$work/osd
mkdir "$osd"
device "$osd/ctm1.ini" OSD-CTM src_id=1 ADDR_WIDTH=64
device "$osd/stm4.ini" OSD-STM src_id=4
snapshot "$osd" osd "$vectors/osd/multi/stream.dtd" ctm1 stm4
"$bin/pugmark" list --packets --source 1 "$osd" | grep -o ' [0-9a-f]\{8\} [01] .*' |
  sed 's/^ //' | cmp - "$vectors/osd/multi/coretrace.0001.log"
"$bin/pugmark" list --packets --source 4 "$osd" | grep -o 'EVENT : .*' | sed 's/^EVENT : //' |
  cmp - "$vectors/osd/multi/systrace.0004.log"
"$bin/pugmark" info "$osd" | grep -q 'Core Trace Module at address 1'
"$bin/pugmark" stat "$osd" | grep -q 'SWTRACE'
