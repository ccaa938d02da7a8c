#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A file of trace and nothing else: which command comes next, what a core's name supplies, and a folder to keep.
#   raw_dump.sh BIN SOURCE
set -eu
pugmark=$1/pugmark source=$2 bad=0
demo=$source/examples/demo crash=$source/examples/crash
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
wrong() { echo "$*"; bad=1; }
has_elf() { "$pugmark" --version | head -n 1 | grep -q '[( ]elf '; }

# What `info` says next can be run as it stands; with the program in its place it gives the path that ran.
cp "$demo/trace.bin" 'my trace.bin'
"$pugmark" info 'my trace.bin' >said
next=$(sed -n 's/^next: pugmark //p' said)
[[ $next == "list --packets --protocol ETMV4I --transport coresight --core "*" 'my trace.bin'" ]] || wrong "info: next is '$next'"
eval "'$pugmark' $next" >packets 2>messages || wrong "not to be run: $next"
grep -q I_ASYNC packets || wrong "no packets of: $next"
printf 'nothing that is known, in a few words' >text
"$pugmark" info text >said || true
grep -q '^next: .*--protocol NAME text' said || wrong "info: nothing next of an unknown file"

# A snapshot is never written over the folder that its own trace, program or parameters lie in.
cp -r "$demo" own
chmod -R u+w own
find own -type f -exec cksum {} + | sort -k 3 >before
for words in "own/trace.bin" "--elf own/program.bin trace.bin" "--params own/ETM_0.ini trace.bin"; do
  cp "$demo/trace.bin" trace.bin
  for force in "" --force; do
    code=0
    # shellcheck disable=SC2086
    "$pugmark" snapshot -o own $force --protocol etmv4 --transport coresight --core Cortex-A53 $words >/dev/null 2>said || code=$?
    [[ $code == 2 ]] && grep -q 'lies in it, which is an input' said || wrong "snapshot -o own $force $words: $code, $(head -n 1 said)"
  done
done
find own -type f -exec cksum {} + | sort -k 3 | cmp -s - before || wrong "snapshot changed the folder of its input"

# A core supplies its usual registers, the trace its id, and both are said.
raw=(--protocol etmv4 --transport coresight --core Cortex-A53)
"$pugmark" pc "${raw[@]}" --image "$demo/program.bin@0x400000" "$demo/trace.bin" >path 2>said || true
cmp -s path "$demo/path.txt" || wrong "--core: not the path that ran"
grep -q 'those usual for Cortex-A53 are assumed: TRCCONFIGR=0x1001 TRCIDR0=0x28000ea1' said || wrong "--core: not said what was assumed"
grep -q 'ids in this trace are taken: 0x10' said || wrong "not said where the id is from"
"$pugmark" pc "${raw[@]}" --set TRCTRACEIDR=0x10 --set TRCCONFIGR=0x1801 --image "$demo/program.bin@0x400000" "$demo/trace.bin" >path 2>said
cmp -s path "$demo/path.txt" || wrong "--core with registers: not the path that ran"
grep -q 'TRCCONFIGR=\|ids in this trace' said && wrong "said to be assumed, and was given"
for core in Cortex-M33 Cortex-M55 Cortex-M7 Cortex-A57 Cortex-A55 Cortex-A710; do
  "$pugmark" info --protocol etmv4 --core $core "$demo/trace.bin" 2>&1 | grep -q "those usual for $core are assumed" || wrong "$core: nothing is usual"
done
for core in ptm:Cortex-A15 etmv3:Cortex-A7 etmv3:Cortex-M4 ete:Neoverse-N2; do
  "$pugmark" info --protocol ${core%:*} --core ${core#*:} "$demo/trace.bin" 2>&1 | grep -q "those usual for ${core#*:} are assumed" || wrong "$core: nothing is usual"
done
# Units that differ from their kin: each has the values of its own source.
assumes() { # CORE PROTOCOL WORDS
  "$pugmark" info --protocol "$2" --core "$1" "$demo/trace.bin" 2>&1 | grep -qF -- "$3" || wrong "$1: not $3"
}
assumes Cortex-M7 etmv4 'TRCIDR1=0x4100f401 TRCIDR2=0x4 TRCIDR8=0x1;'
assumes Cortex-A9 ptm 'ETMIDR=0x411cf301 ETMCR=0x0 ETMCCER=0x8ea;'
assumes Cortex-A55 etmv4 'TRCIDR0=0x8000ca1 TRCIDR1=0x4200f410'
assumes Cortex-A76 etmv4 'TRCIDR0=0x28000ea1 TRCIDR1=0x4100f423'
"$pugmark" info --protocol etmv4 "$demo/trace.bin" >/dev/null 2>said && wrong "decoded without registers"
grep -q 'cannot be read without registers: TRCCONFIGR TRCIDR0 TRCIDR2; give them with --set NAME=VALUE, or --core NAME' said || wrong "no next step: $(<said)"

# The same of a live input.
"$pugmark" pc "${raw[@]}" --image "$demo/program.bin@0x400000" - <"$demo/trace.bin" >path 2>said || true
cmp -s path "$demo/path.txt" || wrong "--core, live: not the path that ran: $(<said)"
grep -q 'ids in this trace are taken: 0x10' said || wrong "live: not said where the id is from: $(<said)"

# What is described has a next command, too.
ends() { # WORDS, INFO'S OPERANDS
  local words=$1
  shift
  "$pugmark" info "$@" 2>/dev/null | tail -n 3 | grep -qF -- "$words" || wrong "info $*: no '$words'"
}
ends "next: pugmark trace --last 50 $demo" "$demo"
ends "pugmark report -o report.html $demo" "$demo"
ends "next: pugmark itm $source/examples/swo" "$source/examples/swo"
ends "next: pugmark trace --last 50 --elf PROGRAM $demo/trace.bin with the same options" "${raw[@]}" "$demo/trace.bin"
paw=$source/../shared/perfdata/paw
if [[ -f $paw/exec.data ]]; then
  ends "next: pugmark profile --symfs DIR $paw/exec.data" "$paw/exec.data"
fi

# A name that is nearly right.
"$pugmark" pc --protocol etm4 "$demo/trace.bin" >/dev/null 2>said && wrong "--protocol etm4: done"
grep -q "no protocol 'etm4'; .*; is ETMV4 meant?" said || wrong "--protocol etm4: $(<said)"
"$pugmark" pc --protocol itm --transport orbflo "$demo/trace.bin" >/dev/null 2>said && wrong "--transport orbflo: done"
grep -q "; is orbflow meant?" said || wrong "--transport orbflo: $(<said)"

# A snapshot's device file is a file of parameters, and says the protocol.
"$pugmark" pc --transport coresight --params "$demo/ETM_0.ini" --core Cortex-A53 --image "$demo/program.bin@0x400000" "$demo/trace.bin" >path 2>said
cmp -s path "$demo/path.txt" && [[ ! -s said ]] || wrong "--params of a device file: $(<said)"
sed 's/^type=.*/type=OTHER/' "$demo/ETM_0.ini" >other.ini
"$pugmark" pc --params other.ini "$demo/trace.bin" 2>said && wrong "a device of an unknown type was taken"
grep -q 'other.ini: type OTHER is not known' said || wrong "unknown type: $(<said)"

# E-Trace without its parameters: they are what is missing, not memory.
rv=$source/tests/captures/etrace-rv64
"$pugmark" pc --protocol etrace --image "$rv/memory_0.bin@0x11200" --set src_bits=4 --set xlen=64 "$rv/trace.bin" >/dev/null 2>said && wrong "E-Trace: all is well without parameters"
grep -q "the encoder's parameters are missing: .*iaddress_width_p" said || wrong "E-Trace: parameters are not named: $(<said)"
grep -q 'Load the file' said && wrong "E-Trace: memory is blamed"

# A snapshot of it needs no options any more, and decodes to the same.
"$pugmark" snapshot "${raw[@]}" --image "$demo/program.bin@0x400000" -o kept "$demo/trace.bin" 2>said
grep -q 'kept: written; next: pugmark info kept' said || wrong "snapshot: $(<said)"
"$pugmark" pc kept >path 2>said
cmp -s path "$demo/path.txt" && [[ ! -s said ]] || wrong "snapshot: another path, or $(<said)"
if has_elf; then
  "$pugmark" snapshot --quiet "${raw[@]}" --elf "$crash/crash" -o elf "$crash/trace.bin" 2>said
  cmp -s <("$pugmark" pc elf) <("$pugmark" pc "$crash") || wrong "snapshot with ELF: another path"
fi
"$pugmark" snapshot --quiet --protocol etrace --image "$rv/memory_0.bin@0x11200" --params "$rv/trace_2.ini" --set src_bits=4 -o rv "$rv/trace.bin"
cmp -s <("$pugmark" pc rv) <("$pugmark" pc "$rv") || wrong "snapshot of E-Trace: another path"
# An ITM has its id in ITMTCR, and its text is of all buffers.
"$pugmark" snapshot --protocol itm -o swo "$source/examples/firmware/swo.bin" 2>said || wrong "snapshot of an ITM: $(<said)"
cmp -s <("$pugmark" itm swo 2>/dev/null) <("$pugmark" itm "$source/examples/firmware/swo.bin") || wrong "snapshot of an ITM: another text"
mkdir taken
echo mine >taken/snapshot.ini
"$pugmark" snapshot "${raw[@]}" -o taken "$demo/trace.bin" 2>said && wrong "what was in the folder was replaced"
[[ $(<taken/snapshot.ini) == mine ]] || wrong "a file of others was changed"
"$pugmark" snapshot -o again kept 2>said && wrong "a snapshot of a snapshot"
grep -q 'says itself how it is to be read' said || wrong "$(<said)"
"$pugmark" snapshot "${raw[@]}" "$demo/trace.bin" 2>said && wrong "snapshot without -o"
grep -q 'needs -o DIR' said || wrong "$(<said)"
exit $bad
