#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Settings and programs that a single file of trace can't be decoded with: what is said of each.
set -u
bin=$1 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '\377' >"$work/trace"

# said STATUS TEXT OPTION...: the command ends with this status and says this, in lines lines. Beside that info says that
# there is nothing in a trace of one byte, which is no matter here.
lines=1 command="list --packets"
said() {
  local status=$1 wanted=$2 text code=0
  shift 2
  # shellcheck disable=SC2086
  text=$("$bin/pugmark" $command "$@" 2>&1 >"$work/pcs") || code=$?
  text=$(grep -vE '^  \* |: something is wrong:$' <<<"$text")
  [[ $code == "$status" && $text == *"$wanted"* && $(grep -c . <<<"$text") == "$lines" ]] && return
  echo "[$*]: expected $lines lines with '$wanted' and $status, got '$text' and $code"
  bad=1
}

# refused TEXT OPTION...: a use that can't be, of a file of trace; accepted OPTION...: one that can.
refused() { said 2 "$@" "$work/trace"; }
accepted() { command=info lines=0 said 1 "" "$@" "$work/trace"; }

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
refused "no protocol 'etm'; there are ETMV4I ETE" --protocol etm
refused "xlen must be 32 or 64" --protocol n-tr --set xlen=48
refused "no transport 'other'; there are plain coresight orbflow nexus osd encapsulation" \
  --protocol ntrace --transport other
refused "trTeFormat is not N-Trace" --quiet --protocol ntrace --set trTeControl=0

# Unknown names are reported, with the known ones; a name may have another that wins.
lines=2
refused "--set xlem: no such setting" --protocol ntrace --set xlem=64 --set xlen=64
refused "N-Trace, framed as nexus: src_bits src_id align" --protocol ntrace --set xlem=64
etm="--protocol etmv4i --set TRCCONFIGR=0xc1 --set TRCIDR0=0x28000ea1 --set TRCIDR1=0x4100f403
  --set TRCIDR2=0x488 --set TRCIDR8=0"
# shellcheck disable=SC2086
refused "--set srcid: no such setting; is src_id meant?" $etm --set srcid=16
# shellcheck disable=SC2086
refused "ETMV4I, framed as plain: " ${etm/etmv4i/etmv4} --set srcid=16
# shellcheck disable=SC2086
refused " TRCCONFIGR TRCTRACEIDR " $etm --set trctraceidr=16
refused "ETMV3, framed as coresight: flags fsyncs" --protocol etmv3 --transport coresight \
  --set ETMCR=0 --set ETMIDR=0 --set ETMCCER=0 --set ETMTRACEIDR=16 --set dstreem=1
refused "E-Trace, framed as raw: type_bits" --protocol etrace --transport raw --set iaddress_with_p=32
refused "--set hart_index_bits: no such" --protocol etrace --set hart_index_bits=3
lines=3
refused "--set b: no such" --protocol ntrace --set a=64 --set b=64
lines=1
lines=2
refused "TRCCONFIGR: not a number" --protocol etmv4i --set TRCCONFIGR=c1
lines=1
refused "layout: a number, not a word" --protocol etrace --set layout=1
# shellcheck disable=SC2086
accepted $etm --set alias=0x1000 --set TRCTRACEIDR=3
accepted --protocol ntrace --set align=start --set mode=6 --set xlen=32 --set xlen=64 \
  --set src_id=0 --set zcmt=1 --set zcmp_zcmt=1
both="--set iaddress_width_p=64 --set iaddress_width=63 --set discovery_info_1=0
  --set full_address=1 --set trTeInstNoAddrDiff=1 --set trTeInstFeatures=1 --set srcid=3
  --set src_id=3 --set srcid_bits=4 --set trTeSrcBits=4 --set trTeInhibitSrc=1 --set trTsEnable=0
  --set trTsWidth=64 --set timestamp_bytes=8 --set type_bits_3=1"
# shellcheck disable=SC2086
command=info lines=1 said 1 "packet" --protocol etrace $both "$work/trace"

# Registers that matter and are missing are named, those of an id only where ids matter.
refused "ETMV4I cannot be read without registers: TRCCONFIGR TRCIDR0 TRCIDR2" --protocol etmv4i
refused "without registers: TRCCONFIGR TRCIDR0 TRCIDR2" --protocol etmv4i --transport coresight
refused "ETE cannot be read without registers: TRCCONFIGR TRCIDR0 TRCIDR2" --protocol ete
refused "ETMV3 cannot be read without registers: ETMIDR ETMCR ETMCCER" --protocol etmv3
refused "PTM cannot be read without registers: ETMIDR ETMCCER" --protocol ptm \
  --transport coresight --set ETMCR=0
accepted --protocol ptm --set ETMIDR=0x4100f310 --set ETMCR=0 --set ETMCCER=0x34000000
command=info said 1 "ETMV4I: registers are missing: TRCIDR1 (taken for 0x4100f403) TRCIDR8 (taken for 0x0)" \
  --protocol etmv4i --set TRCCONFIGR=0xc1 --set TRCIDR0=0x28000ea1 --set TRCIDR2=0x488 "$work/trace"
lines=3
refused "--set TRCCONFGIR: no such setting; is TRCCONFIGR meant?" --protocol etmv4i \
  --set TRCCONFGIR=0xc1 --set TRCIDR0=0x28000ea1 --set TRCIDR1=0 --set TRCIDR2=0x488 --set TRCIDR8=0
lines=1

# A trace without sources.
said 3 "trace: no source in it" --protocol etrace --transport raw --set xlen=64 "$work/trace"

# A name in a file that is none, but nearly; others are no matter.
printf '\0' >"$work/null"
printf 'xlen = 64\niaddress_widht_p = 64\nnotes = of a run\n' >"$work/slip.params"
command=info said 1 "slip.params: nobody knows 'iaddress_widht_p'; is iaddress_width_p meant?" \
  --protocol etrace --set src_id=0 --params "$work/slip.params" "$work/null"
printf 'xlen = 64\niaddress_width_p = 64\nnotes = of a run\n' >"$work/right.params"
command=info lines=0 said 1 "" --protocol etrace --set src_id=0 --params "$work/right.params" "$work/null"
"$bin/pugmark" info --protocol etrace --set src_id=0 --params "$work/right.params" "$work/null" |
  grep -q "right.params: notes$" || { echo "info does not list names that nothing reads"; bad=1; }
# Parameters of another protocol than the one that is meant when none is named.
printf 'TRCCONFIGR = 0xc1\nTRCIDR0 = 0x28000ea1\n' >"$work/other.params"
refused "other.params: it has no name that E-Trace, framed as encapsulation, knows" --params "$work/other.params"
command=info lines=0 said 1 "" --params "$work/right.params" --set src_id=0 "$work/null"
cp -r "$2/examples/demo" "$work/demo"
sed -i 's/^TRCIDR8/TRCIRD8/' "$work/demo/ETM_0.ini"
lines=2 said 1 "ETM_0.ini: nobody knows 'TRCIRD8'; is TRCIDR8 meant?" "$work/demo"
sed -i 's/^TRCCONFIGR/TRCCONFIG/' "$work/demo/ETM_0.ini"
lines=6 said 3 "ETM_0.ini: register TRCCONFIGR is missing" "$work/demo"
lines=6 said 3 "ETM_0.ini: nobody knows 'TRCCONFIG'; is TRCCONFIGR meant?" "$work/demo"

# Cores by name.
refused "--core Cortex-A5x3: no core of this name is known (pugmark --list-cores); is Cortex-A53 meant?" \
  --protocol ntrace --core Cortex-A5x3
refused "--core Nonsense: no core of this name is known (pugmark --list-cores)" --protocol ntrace --core Nonsense
"$bin/pugmark" --list-cores | grep -qx 'Cortex-A53' || { echo "--list-cores lacks one"; bad=1; }
while read -r core; do
  # shellcheck disable=SC2086
  command=info lines=0 said 1 "" $etm --core "$core" "$work/trace"
done < <("$bin/pugmark" --list-cores | sed -n '1~20p')

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
