#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a new user meets: help, the manual, and what is said of inputs and options that can't be.
#   usage.sh BIN SOURCE
set -u
pugmark=$1/pugmark source=$2 bad=0
demo=$source/examples/demo
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1

# said STATUS TEXT WORD...: pugmark WORD... ends with this status and says this, a pattern, only.
said() {
  local status=$1 wanted=$2 text code=0
  shift 2
  text=$("$pugmark" "$@" 2>&1 >output) || code=$?
  # shellcheck disable=SC2053
  [[ $code == "$status" && $text == $wanted ]] && return
  echo "[$*]: expected '$wanted' and $status, got '$text' and $code"
  bad=1
}

# Help: of each command, and each of its options in the manual.
said 0 "" --help
said 0 "" help
said 0 "" --version
grep -qE '^pugmark [0-9]+\.[0-9]+\.[0-9]+ \(.*threads\)$' output || { echo "no version"; bad=1; }
said 2 "pugmark: --version takes --json, or nothing; it was given '--xml'" --version --xml
said 2 "usage: pugmark COMMAND*"
said 2 "pugmark: 'other' is no command; *" other
said 2 "pugmark: 'other' is no command; *" help other
mkdir pages
"$pugmark" reference --prose "$source/docs/man" --date 2026-11-29 --output pages || { echo "no manual is made"; bad=1; }
manual=$(<pages/pugmark.1)
said 0 "" -V
said 2 "pugmark: 'trcae' is no command; is trace meant? *" trcae
said 2 "pugmark: unknown option '--formt'; is --format meant? *" list --formt text one
said 2 "pugmark: --format perfeto: *; is perfetto meant?" timeline --format perfeto one
said 2 "pugmark: --type EXEPTION: no element type; *; is EXCEPTION meant?" list --type EXEPTION one
firmware=$source/examples/firmware
said 2 "pugmark: --exception SysTik: *; is SysTick meant?" find --exception SysTik --protocol itm --elf "$firmware/firmware.elf" "$firmware/swo.bin"
said 2 "pugmark: --rtos freertso: *; is freertos meant?" threads --rtos freertso "$source/examples/crash"
said 2 "pugmark: etm4: no such protocol *; is etmv4 meant?" record --protocol etm4 --out x one
commands=$("$pugmark" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p' | grep -vxE 'help|explain')
for command in $commands; do
  [[ $manual == *"\fBpugmark\-$command\fR(1)"* && -s pages/pugmark-$command.1 ]] || { echo "no $command in the manual"; bad=1; }
  page=$(<"pages/pugmark-$command.1")
  said 0 "" "$command" --help
  cp output help
  grep -q "^    pugmark $command\|^    echo .* | pugmark $command" help || { echo "$command --help: no example"; bad=1; }
  said 0 "" help "$command"
  cmp -s output help || { echo "help $command: not $command --help"; bad=1; }
  said 0 "" "$command" --help-all
  cp output help
  twice=$(sed -n 's/^  \(--[a-z-]*\) .*/\1/p' help | sort | uniq -d)
  [[ -z $twice ]] || { echo "help $command: $twice is there twice"; bad=1; }
  for option in $(sed -n 's/^  --\([a-z-]*\) .*/\1/p' help); do
    [[ $page == *"\-\-${option//-/\\-}"* ]] || { echo "$command --$option: not in the manual"; bad=1; }
  done
  said 2 "pugmark: no input*usage: pugmark $command *" "$command"
  grep -qE '(\.\.\.| [A-Z]+ [A-Z]+)$' <<<"$(head -1 help)" || said 2 "pugmark: too many words: 'two'*" "$command" one two
  said 2 "pugmark: unknown option '--xyzzy' *" "$command" --xyzzy one
  grep -q '^  --jobs ' help || continue
  said 2 "pugmark: --jobs many: not a number" "$command" --jobs many one
  for number in 1025 4294967297 18446744073709551615; do
    said 2 "pugmark: --jobs $number: more than 1024" "$command" --jobs "$number" one
  done
done
# Numbers that would be others where they are kept.
said 2 "pugmark: --jobs 18446744073709551616: not a number" stat --jobs 18446744073709551616 "$demo"
for number in " -1" "-1" "+1" " 1" ""; do said 2 "pugmark: --jobs $number: not a number" stat --jobs "$number" "$demo"; done
said 2 "pugmark: --expansion 4294967296: more than 4294967295" list --expansion 4294967296 "$demo"
said 2 "pugmark: --expansion 0: at least 1" list --expansion 0 "$demo"
said 2 "pugmark: --passes 0: at least 1" stat --passes 0 "$demo"
said 2 "pugmark: --last 0: at least 1" trace --last 0 "$demo"
said 2 "pugmark: --count 0: at least 1" list --around 5 --count 0 "$demo"
said 2 "pugmark: --full-source 65552: more than 65535" index --full-source 65552 "$demo"
said 2 "pugmark: --id 65552: more than 65535" record --protocol etrace --id 65552 --out new --from "$source/examples/crash/path"
said 2 "pugmark: --id 18446744073709551615: more than 65535" record --protocol etrace --id 18446744073709551615 --out new --from path
said 3 "pugmark: $demo: no source 65552 in it; there are 0x10" list --source 65552 "$demo"
said 0 "" info --help
grep -q "^  orbflow " output || { echo "info --help: no transports"; bad=1; }
[[ $(grep -c "^  plain " output) == 1 ]] || { echo "info --help: not each transport once"; bad=1; }

for name in $(sed -n '/^transports:/,$s/^  \([a-z0-9]*\) .*/\1/p' output); do
  grep -qwF "$name" pages/pugmark.1 || { echo "transport $name: not in the manual"; bad=1; }
done

# Inputs that are none.
mkdir folder
printf 'text' >text
said 3 "pugmark: none: No such file or directory" pc none
said 3 "pugmark: folder: no snapshot: there is no snapshot.ini in it*" pc folder
said 3 "pugmark: text: no snapshot; a single file of trace needs --protocol or --params
pugmark: text: \`pugmark info\` says what it looks like" pc text
said 3 "pugmark: none: No such file or directory" itm none
said 3 "pugmark: folder: not a file" pc --protocol itm folder
said 3 "*file access error: folder: Is a directory" pc --params folder text
said 3 "*file access error: none: No such file or directory" pc --params none text
said 3 "pugmark: text: cannot use as a program: not an ELF file, or a damaged one" pc --protocol ntrace --elf text text

# Traces with nothing in them.
: >empty
said 1 "*empty: something is wrong:*the trace is empty*" pc --protocol ntrace --set src_id=0 empty
said 3 "pugmark: text: no source of program flow in it; what its ITM says: calls --interrupts, profile, timeline, list --events" pc --protocol itm text
said 3 "pugmark: text: no source of program flow in it" calls --protocol stm text
said 3 "*: no ITM in it" itm "$demo"
said 1 "*empty: something is wrong:*the trace is empty*" info --protocol itm empty
grep -q "^  trace: there are no bytes in it" output || { echo "info: empty trace not reported"; bad=1; }
said 1 "*text: something is wrong:*no place in them where ITM could begin to decode*" info --protocol itm text
grep -q "^  a synchronisation point of source 0x00" output || { echo "info: no sync not reported"; bad=1; }

# Snapshots that lack something.
broken() { # TEXT COMMAND: of a copy of the bundled one, made to lack it
  rm -rf broken
  cp -r "$demo" broken
  chmod -R u+w broken
  (cd broken && eval "$2")
  said 3 "$1" pc broken
}
trace=$(sed -n 's/^file=//p' "$demo/trace.ini")
broken "*No such file or directory" "rm $trace"
broken "*ETM_0.ini: type OTHER is not known*: none of its sources can be decoded" \
  "sed -i 's/^type=.*/type=OTHER/' ETM_0.ini"
broken "*ETM_0.ini: register TRCIDR0 is missing*: none of its sources can be decoded" \
  "sed -i '/^TRCIDR0/d' ETM_0.ini"
broken "*broken/snapshot.ini:1: Snapshot section is missing mandatory version definition*" \
  "sed -i '/^version/d; /^\[snapshot/,\$!d' snapshot.ini"
broken "*broken/ETM_0.ini:*: Device section is missing mandatory name definition*" \
  "sed -i '/^name/d' ETM_0.ini"
broken "*no trace buffer in it" "rm trace.ini"

# The transport or the container says how E-Trace is wrapped, and the wrapping decides the packets' layout.
for each in "container=smi|Siemens|standard" "container=esp32|Espressif|esp32_2" "container=esp32 generation 1|Espressif|esp32_1" \
  "container=encap|RISC-V packet encapsulation|standard" "container=pulp|PULP|pulp"; do
  IFS='|' read -r container title layout <<<"$each"
  "$pugmark" info --quiet --protocol etrace --set src_id=0 --set xlen=32 --set "$container" text >output 2>said
  grep -q "^trace: text, 4 bytes, $title" output && grep -q "layout = $layout\$" output || { echo "$container:"; cat said output; bad=1; }
done
"$pugmark" info --quiet --protocol etrace --set src_id=0 --set xlen=32 --transport pulp text >output 2>said
grep -q "layout = pulp\$" output || { echo "--transport pulp: another layout"; bad=1; }
"$pugmark" info --quiet --protocol etrace --set src_id=0 --set xlen=32 --set layout=standard --transport pulp text >output 2>said
grep -q "layout = standard\$" output || { echo "--transport pulp with a layout: another layout"; bad=1; }

# Of a dump that its file does not have it is said what.
short() { # TEXT COMMAND
  rm -rf broken
  cp -r "$demo" broken
  chmod -R u+w broken
  (cd broken && eval "$2")
  said 1 "*data end too early: broken/program.bin: $1
*" info broken
}
short "there is nothing in it from offset 0x5000 on" "echo offset=0x5000 >>cpu_0.ini"
short "it does not have all of the 0x10000 bytes from offset 0x0 on that are told" "echo length=0x10000 >>cpu_0.ini"
short "there is nothing in it from offset 0x0 on" ": >program.bin"

# What the command line says goes before a snapshot.
for command in pc trace profile report info; do
  said 2 "pugmark: --set foo: no such setting*" $command --set foo=1 "$demo"
done
said 2 "*src_bits must be 0 to 12*" pc --set src_bits=99 "$source/tests/captures/ntrace-rv64"
said 2 "pugmark: --set ETM_9:TRCIDR1: no such source; there are ETM_0 (0x10)" pc --set ETM_9:TRCIDR1=1 "$demo"
said 2 "pugmark: --set 0x11:TRCIDR1: no such source; there are ETM_0 (0x10)" pc --set 0x11:TRCIDR1=1 "$demo"
said 2 "pugmark: --set 16:src_bits: sources of snapshots alone have settings of their own" list --protocol ntrace --set 16:src_bits=1 text
said 2 "pugmark: --set TRCIDR0: 0x128000ea1 has more bits than the register" pc --set TRCIDR0=0x128000ea1 "$demo"
said 2 "pugmark: --set ETMCR: 0x100000000 has more bits than the register" \
  list --protocol ptm --set ETMCR=0x100000000 --set ETMIDR=0x4100f310 --set ETMCCER=0x34c01ac2 --set ETMTRACEIDR=0x10 text
said 2 "pugmark: --core x86: no core of this name is known*" pc --core x86 "$demo"
said 0 "" info --core cortex-m7 "$demo"
grep -q "profile M" output || { echo "info --core: not taken"; bad=1; }
said 1 "*there are no bytes for source 0x33; ids in this trace: 0x10 *" info --set ETM_0:TRCTRACEIDR=0x33 "$demo"
grep -q "trace id: 0x33" output || { echo "info --set SOURCE:NAME=VALUE: not taken"; bad=1; }
said 1 "*there are no bytes for source 0x33; ids in this trace: 0x10 *" info --set 16:TRCTRACEIDR=0x33 "$demo"
grep -q "trace id: 0x33" output || { echo "info --set ID:NAME=VALUE: not taken"; bad=1; }

# Choices that are not there.
said 3 "*: no trace buffer other; there are: *" pc --buffer other "$demo"
for command in calls "calls --by-time" coverage "diff $demo" "find --sync" info list "list --by-time" pc profile stat timeline trace; do
  said 3 "*: no source 0x55 in it; there are 0x10" $command --source 0x55 "$demo"
  said 3 "*: no process 5 in it; there are none" $command --pid 5 "$demo"
done
said 3 "*: no process 5 in it; there are none*" profile --pid 5 "$demo" "$demo" # others may have it, but not none
said 3 "*: no process 5 in it; there are none*" coverage --pid 5 "$demo" "$demo"
said 3 "*: no process 5 in it; there are none*" report --pid 5 --output page "$demo" "$demo"
[[ ! -e page ]] || { echo "a report of nothing"; bad=1; }
for command in calls "calls --by-time" coverage info list "list --by-time" pc "pc --by-thread" profile "report -o page" stat timeline trace; do
  said 2 "pugmark: --dso other: not one that ran; there are $demo/program.bin" $command --dso other "$demo"
done
for name in program.bin demo/program.bin /demo/program.bin "$demo/program.bin"; do
  said 0 "" pc --dso $name "$demo"
  [[ -s output ]] || { echo "pc --dso $name: nothing"; bad=1; }
done
crash=$source/examples/crash
if id=$(readelf -n "$crash/crash" 2>/dev/null | sed -n 's/.*Build ID: //p') && [[ -n $id ]]; then
  for command in pc calls profile; do
    said 0 "" $command --quiet --dso "$id" "$crash"
    cp output by_id
    said 0 "" $command --quiet --dso crash "$crash"
    cmp -s output by_id || { echo "$command --dso BUILDID: not the same"; bad=1; }
  done
  said 2 "pugmark: --dso ${id}0: not one that ran; *" pc --dso "${id}0" "$crash"
fi
for command in pc stat profile info; do
  said 2 "pugmark: --dso program.bin=other: files are taken for what perf.data names; *--elf and --image*" \
    $command --dso program.bin=other "$demo"
done
said 2 "pugmark: --dso rogram.bin: not one that ran; *" pc --dso rogram.bin "$demo"
said 3 "*: no source 0x55 in it; there are 0x10" report --source 0x55 --output page "$demo"
said 0 "*: no source 0x55 in it; there are 0x10" pc --source 0x10 --source 0x55 "$demo"
said 3 "*: no source 3 in it; there are 0x00" itm --source 3 empty
# Options that say nothing of what is asked for.
for option in "weight cycles|--format folded" "like simpleperf|--format autofdo" "without-plt|--format bolt"; do
  # shellcheck disable=SC2086
  said 2 "pugmark: --${option%%[ |]*} is of ${option#*|}, not of table" profile --${option%|*} "$demo"
done
for option in "rows 3" json; do
  # shellcheck disable=SC2086
  said 2 "pugmark: --${option% *} is of --format table, not of folded" profile --$option --format folded "$demo"
  # shellcheck disable=SC2086
  said 2 "pugmark: --${option% *} is of --format table, not of a profile that is saved" profile --$option -o none "$demo"
done
said 2 "pugmark: --mangled is of formats that have names, not of a profile that is saved" profile --mangled -o none "$demo"
said 2 "pugmark: --stacks is of what is counted, not of brstack" profile --stacks --format brstack "$demo"
[[ ! -e none ]] || { echo "profile: written in spite of its options"; bad=1; }
for clock in cycles instructions; do
  said 2 "pugmark: --exact is of times; the --clock that was asked for counts" timeline --exact --clock $clock "$demo"
done
said 2 "pugmark: --unit says what --last, --around or --before count" trace --unit calls "$demo"
said 0 "" trace --quiet --unit calls --before exception "$demo"
said 2 "pugmark: record: --qemu, --plugin, --sysroot and --children are of a program that runs, and with --from none does" \
  record --qemu qemu --from "$source/examples/crash/path" --protocol etmv4 --out none

# A profile is of what was counted; weights and clocks may be missing.
said 0 "" profile -o saved "$demo"
said 2 "pugmark: saved: of a profile nothing can be chosen by --pid*" profile --pid 1 saved
said 2 "pugmark: too few words*usage: pugmark diff *BEFORE AFTER*" diff "$demo"
said 2 "pugmark: --time 3,2: nothing is between these: *" profile --time 3,2 "$demo"
said 2 "pugmark: --time 3,3: nothing is between these: *" list --time 3,3 "$demo"
said 2 "pugmark: saved: of a profile nothing can be chosen by *" diff --time 1,2 saved "$demo"
said 0 "" profile --dso program.bin saved
said 1 "pugmark: --weight cycles: nothing in it counts cycles" profile --format folded --weight cycles "$demo"
said 0 "" profile --format folded --weight time "$demo"
said 1 "pugmark: --clock cycles: it has no counts of them, and all times are 0*" timeline --clock cycles "$demo"
said 0 "pugmark: * calls*" timeline --clock time "$demo"
# Of two buffers one alone has the source: the other one is passed over.
rm -rf two
cp -r "$demo" two
chmod -R u+w two
sed 's/^name=.*/name=ETM_1/; s/\(TRCTRACEIDR.*=\).*/\10x11/' "$demo/ETM_0.ini" >two/ETM_1.ini
sed -i 's/^device1=.*/&\ndevice2=ETM_1.ini/' two/snapshot.ini
sed -i "s/^buffers=.*/buffers=buffer0,buffer1/; s/^\[source_buffers\]/[buffer1]\nname=ETB_1\nfile=$trace\nformat=coresight\n\n&\nETM_1=ETB_1/" two/trace.ini
said 0 "" pc --source 0x10 two
cmp -s output "$demo/path.txt" || { echo "--source of one of two buffers: another path"; bad=1; }
said 3 "*: no source 0x12 in it; there are 0x10 0x11" pc --source 0x12 two
said 3 "*: no source 0x11 in it; there are 0x10" pc --source 0x11 --buffer ETB_0 two
for command in pc list "list --by-time" calls "calls --by-time" "find --sync" index; do
  # shellcheck disable=SC2086
  said 2 "*bogus*" $command --protocol bogus "$demo/trace.bin"
done
said 2 "pugmark: --type other: no element type; there are UNKNOWN *" list --type event,other "$demo"
said 0 "" list --type event,Instr_Range "$demo"
said 2 "pugmark: --format xml: no format; there are text, jsonl, csv, cmsis-csv" list --format xml "$demo"
said 2 "pugmark: --type is of elements; *" list --packets --type EVENT "$demo"
for command in pc list calls trace stat profile "timeline -o new"; do
  said 2 "pugmark: --time 5,1: nothing is between these: *" $command --time 5,1 "$demo"
done
said 2 "pugmark: --from is behind --to" list --from 10 --to 5 "$demo"
said 2 "pugmark: --count needs --around" list --count 3 "$demo"
size=$(stat -c %s "$demo/$trace")
said 2 "pugmark: --around $((size + 1)): * has $size bytes" list --around $((size + 1)) "$demo"
said 0 "" list --around "$size" "$demo"
said 1 "pugmark: nothing has a timestamp of 999999999999 or later" list --from-time 999999999999 "$demo"
said 2 "pugmark: find needs one of *" find --sync --trigger "$demo"
said 2 "pugmark: find takes one --source" find --sync --source 1 --source 2 "$demo"
said 2 "pugmark: --block 100: must be 1024 to *" index --block 100 --output index "$demo"
said 3 "pugmark: none/index: No such file or directory" index --output none/index "$demo"
said 0 "" pc --jobs 0 "$demo"
cmp -s output "$demo/path.txt" || { echo "--jobs 0: another path"; bad=1; }
# Who reads no more of a pipe wants no more.
for command in info stat list pc trace calls profile coverage report timeline "find --sync" "timeline --format chrome"; do
  code=0
  # shellcheck disable=SC2086
  "$pugmark" $command --quiet "$crash" >output 2>&1 || code=$?
  [[ $code -lt 2 ]] || continue # this build lacks what it takes
  # shellcheck disable=SC2086
  { "$pugmark" $command --quiet "$crash" 2>said || echo $? >>said; } | true
  grep -qE "^[234]$|cannot write|Broken pipe" said && { echo "$command into a closed pipe: $(tail -2 said)"; bad=1; }
done
exit $bad
