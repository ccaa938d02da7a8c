#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Wrong input ends with a word about what is wrong and an exit code, right input with neither.
set -eu
bin=$1 source=$2
. "$source/tests/support/repeat.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
demo=$source/examples/demo
bad=0
# says CODE WORDS OPTION...: the run ends with this code, and says something like this.
says() {
  local code=$1 wanted=$2 got=0 text
  shift 2
  text=$("$bin/pugmark" "$@" 2>&1 >/dev/null) || got=$?
  # shellcheck disable=SC2053
  [[ $got == "$code" && $text == $wanted ]] && return
  echo "[$*]: expected '$wanted' and $code, got '$text' and $got"
  bad=1
}
copy() { rm -rf "$tmp/$1" && cp -r "$demo" "$tmp/$1" && chmod -R u+w "$tmp/$1"; }

for command in pc list calls stat; do says 0 "" "$command" "$demo"; done
says 0 "" pc --source 0x10 "$demo"

# The program 0x40 bytes off, with enough of it on both sides.
copy shifted
{ head -c 64 /dev/zero; cat "$demo/program.bin"; head -c 4096 /dev/zero; } >"$tmp/shifted/program.bin"
for command in pc list stat info; do
  says 1 "*something is wrong:*the program does not match the trace: * contradictions in * branches, the first at offset *, address 0x*" "$command" "$tmp/shifted"
done
says 1 "" pc --quiet "$tmp/shifted"

# Half of the program.
copy half
head -c $(($(stat -c %s "$demo/program.bin") / 2 / 64 * 64)) "$demo/program.bin" >"$tmp/half/program.bin"
for command in pc info; do
  says 1 "*execution came * to addresses that no file or dump has: 0x4*Load the file that belongs there*" $command "$tmp/half"
done

# A missing dump is reported once, by each command that needs memory.
cp -r "$source/tests/captures/etmv4-arm" "$tmp/missing" && chmod -R u+w "$tmp/missing"
sed -i 's/memory_0/nothing/' "$tmp/missing/cpu_1.ini"
for command in pc "pc --by-thread" list "list --by-time" calls "calls --by-time" stat profile trace info; do
  code=0
  # shellcheck disable=SC2086
  "$bin/pugmark" $command "$tmp/missing" >/dev/null 2>"$tmp/said" || code=$?
  [[ $code == 1 && $(grep -c '^pugmark: error: .*nothing.bin: No such file' "$tmp/said") == 1 ]] && continue
  echo "$command, a dump is missing: $code and '$(cat "$tmp/said")'"
  bad=1
done

# Another id than the trace has.
copy other
sed -i 's/^TRCTRACEIDR.*/TRCTRACEIDR(0x010)=0x21/' "$tmp/other/ETM_0.ini"
for command in pc info; do
  says 1 "*there are no bytes for source 0x21; ids in this trace: 0x10 (* bytes)*" $command "$tmp/other"
done
# The same with a trace that is longer than what `info` decodes of others.
repeat "$demo/trace.bin" 4000 >"$tmp/other/trace.bin"
says 1 "*there are no bytes for source 0x21; ids in this trace: 0x10 (1,024,000 bytes)*" info "$tmp/other"

# What comes before the first id in CoreSight frames is of none.
{ head -c 32 /dev/zero; printf '\x21'; head -c 15 /dev/zero; } >"$tmp/late.bin"
says 1 "*there are no bytes for source 0x22; ids in this trace: 0x10 (14 bytes); 30 bytes are before the first id*" \
  pc --protocol ete --transport coresight --set fsyncs=0 --set TRCTRACEIDR=0x22 --set TRCIDR1=0x4100f403 \
  --set TRCIDR0=0x28000ea1 --set TRCIDR2=0x488 --set TRCIDR8=0 --set TRCDEVARCH=0x47735a13 --set TRCCONFIGR=0 "$tmp/late.bin"

# A program that does not fit is no loss of trace, in E-Trace and N-Trace alike.
for name in etrace-rv64 ntrace-rv64; do
  rm -rf "$tmp/off" && cp -r "$source/tests/captures/$name" "$tmp/off" && chmod -R u+w "$tmp/off"
  { head -c 64 /dev/zero; cat "$source/tests/captures/$name/memory_0.bin"; } >"$tmp/off/memory_0.bin"
  says 1 "*something is wrong:*the program does not match the trace: *" stat "$tmp/off"
  if "$bin/pugmark" stat "$tmp/off" 2>&1 | grep "trace was lost" ||
    "$bin/pugmark" list --quiet "$tmp/off" | grep -F "TRACE_ON( [overflow])"; then
    echo "$name: another program is told as a loss of trace"
    bad=1
  fi
done

# A return stack that the unit had and the settings have not; the other way round nothing is missing.
turned() { # NAME: the capture, with the return stack told the other way
  rm -rf "$tmp/turned" && cp -r "$source/tests/captures/$1" "$tmp/turned" && chmod -R u+w "$tmp/turned"
  perl -i -pe 's/^((TRCCONFIGR|ETMCR)\S*=)(\S+)/sprintf "%s0x%x", $1, hex($3) ^ ($2 eq "ETMCR" ? 1 << 29 : 1 << 12)/e;
               s/^(ETMCCER\S*=)(\S+)/sprintf "%s0x%x", $1, hex($2) | 1 << 23/e' "$tmp/turned"/*.ini
}
for name in etmv4-a64 etmv4-arm ete-a64 ete-a64-loss ptm-arm; do
  turned "$name"
  case $name in ptm*) bit="bit 29 of ETMCR, or bit 23 of ETMCCER" ;; *) bit="bit 12 of TRCCONFIGR" ;; esac
  for command in stat pc list "stat --jobs 1" info; do
    # shellcheck disable=SC2086
    says 1 "*something is wrong:*source 0x10: the settings do not match the trace: * times, *return stack, which is off: $bit. *" $command "$tmp/turned"
  done
  if "$bin/pugmark" stat "$tmp/turned" 2>&1 | grep -e "the program does not match" -e "no file or dump has"; then
    echo "$name: a wrong setting is reported as a wrong program"
    bad=1
  fi
done
for name in etmv4-arm-times ptm-arm-cycles; do
  turned "$name"
  says 0 "" stat "$tmp/turned"
  cmp -s <("$bin/pugmark" list "$tmp/turned") <("$bin/pugmark" list "$source/tests/captures/$name") && continue
  echo "$name: a return stack that is not used changes something"
  bad=1
done
# Other contradictions are no setting's.
rm -rf "$tmp/off" && cp -r "$source/tests/captures/etmv4-arm-times" "$tmp/off" && chmod -R u+w "$tmp/off"
{ head -c 8 /dev/zero; cat "$source/tests/captures/etmv4-arm-times/memory_0.bin"; } >"$tmp/off/memory_0.bin"
if "$bin/pugmark" stat "$tmp/off" 2>&1 | grep "settings do not match"; then
  echo "another program is reported as another setting"
  bad=1
fi

# RISC-V, without its program: the same words and code.
printf '\x24\x0d\x00\x0b\x84\x00\x07' >"$tmp/trace.nex"
says 1 "*execution came 1 time to addresses that no file or dump has: 0x0 to 0xfff (1)*" \
  pc --protocol ntrace --set xlen=64 "$tmp/trace.nex"

# The width of another core than the program's.
printf '\177ELF\2\1\1' >"$tmp/wide.elf"
says 3 "*xlen is 32, and *wide.elf is a program of 64 bits*" \
  pc --protocol ntrace --set xlen=32 --elf "$tmp/wide.elf" "$tmp/trace.nex"

# The trace ends inside a message.
printf '\x24\x0d\x00\x0b\x84\x00\x07\x24\x0d' >"$tmp/cut.nex"
says 1 "*the trace ends inside a packet or frame*" \
  pc --protocol ntrace --set xlen=64 --image "$demo/program.bin@0" "$tmp/cut.nex"

# Messages that are alike are counted.
for _ in {1..200}; do printf '\x24\x0d\x00\x0b\x84\x40\x11\x1f'; done >"$tmp/many.nex"
{ for _ in {1..64}; do printf '\x13\x05\xb5\x00\x63\x0f\xb5\x0e'; done; } >"$tmp/code.bin"
says 1 "*and 19[0-9] more messages like these*contradictions*" \
  pc --protocol ntrace --set xlen=64 --image "$tmp/code.bin@0x100" "$tmp/many.nex"

# So they are where numbers have letters alone, and letters before digits: an address each time.
addresses=(0xcc 0xfabe 0xa1b0 0xffeae2 0xbeefde 0xdd 0xaffe12 0xc0ffee 0xabcdee 0xfade 0xdeaf00 0xfeed10)
for address in "${addresses[@]}"; do
  printf '\x24\x15' # SYNC 5, and ICNT 0
  for ((bits = address >> 1; bits > 63; bits >>= 6)); do printf "\\x$(printf %x $((bits % 64 * 4)))"; done
  printf "\\x$(printf %x $((bits * 4 + 3)))"
  printf '\x0c\x0b'
done >"$tmp/far.nex"
says 1 "*and $((${#addresses[@]} - 5)) more messages like these*" pc --protocol ntrace --set xlen=64 "$tmp/far.nex"

# Another protocol's bytes, and no description at all.
says 1 "*no place in them where STM could begin to decode*it looks like ETMV4I in coresight*" \
  list --protocol stm "$demo/trace.bin"
says 1 "*bad packets, * in a megabyte*it looks like ETMV4I in coresight*" \
  list --protocol ntrace --set xlen=64 "$demo/trace.bin"
says 3 "*no source in it*it looks like ETMV4I in coresight*" list --protocol osd-ctm "$demo/trace.bin"
"$bin/pugmark" info "$demo/trace.bin" >"$tmp/guess"
grep -q "looks like .* ETMV4I in coresight" "$tmp/guess" || { cat "$tmp/guess"; bad=1; }
head -c 20000 /dev/zero >"$tmp/zeros"
code=0
"$bin/pugmark" info "$tmp/zeros" >"$tmp/guess" || code=$?
grep -q "looks like nothing" "$tmp/guess" && [[ $code == 1 ]] || { cat "$tmp/guess"; bad=1; }

# A wrong setting of an encoder's option.
rm -rf "$tmp/off" && cp -r "$source/tests/captures/ntrace-rv64" "$tmp/off" && chmod -R u+w "$tmp/off"
sed -i 's/^implicit_return=.*/implicit_return=0/' "$tmp/off"/*.ini
says 1 "*it fits with --set implicit_return=1 (returns that are not told)*" stat "$tmp/off"
says 0 "" stat --set implicit_return=1 "$tmp/off"
# Damage is not blamed on a setting.
for name in etmv4-a64 ete-a64 ptm-arm etmv3-arm etrace-rv64 ntrace-rv64; do
  rm -rf "$tmp/off" && cp -r "$source/tests/captures/$name" "$tmp/off" && chmod -R u+w "$tmp/off"
  for at in 3001 7003 11003 15005; do
    printf '\125\252\3\300' | dd of="$tmp/off/trace.bin" bs=1 seek=$at conv=notrunc status=none
  done
  "$bin/pugmark" stat "$tmp/off" >/dev/null 2>"$tmp/said" || true
  grep -q "something is wrong" "$tmp/said" && ! grep -q "fits with" "$tmp/said" || { echo "damage of $name:"; cat "$tmp/said"; bad=1; }
done

# Words that were written in the other order: of a file that nothing describes, and of a snapshot.
for capture in etmv4-a64 etrace-rv64 ntrace-rv64; do
  for width in 2 4 8; do
    rm -rf "$tmp/turned" && cp -r "$source/tests/captures/$capture" "$tmp/turned" && chmod -R u+w "$tmp/turned"
    perl -0777 -pi -e 's/(.{'$width'})/reverse $1/gse' "$tmp/turned/trace.bin"
    "$bin/pugmark" info "$tmp/turned/trace.bin" >"$tmp/guess"
    grep -q "^with the bytes of each word of $width turned round .*reverse-bytes=$width" "$tmp/guess" || { cat "$tmp/guess"; bad=1; }
    says 1 "*with the bytes of each word of $width turned round *they look like * in *" stat "$tmp/turned"
  done
done

# A snapshot that says another format: which one it would be.
formats() { # CAPTURE FORMAT RIGHT: told with the first, it is the second
  rm -rf "$tmp/framed" && cp -r "$1" "$tmp/framed" && chmod -R u+w "$tmp/framed"
  sed -i "s/^format=.*/format=$2/" "$tmp/framed/trace.ini"
  for command in stat info; do
    says 1 "*it looks like *; that is format=$3 in the snapshot, which says format=$2*" $command "$tmp/framed"
  done
}
captures=$source/tests/captures
for format in source_data dstream_coresight nexus encapsulation; do formats "$captures/etmv4-a64" $format coresight; done
for format in source_data coresight nexus; do formats "$captures/etrace-rv64" $format encapsulation; done
for format in source_data coresight encapsulation; do formats "$captures/ntrace-rv64" $format nexus; done

# Of perf.data some is looked at once more, which ends anywhere: no warning of the trace's, counted or, as --tid has it, not;
# and the same counts on any number of threads.
if [[ -x $bin/perf_repeat ]] && "$bin/pugmark" record --quiet --from "$source/examples/crash/path" --protocol etmv4 --perf "$tmp/short.data"; then
  "$bin/perf_repeat" "$tmp/short.data" "$tmp/long.data" 30000
  tid=$("$bin/pugmark" info "$tmp/short.data" 2>/dev/null | sed -n 's/.* tid \([0-9]*\) .*/\1/p')
  for how in "--jobs 1" "--jobs 2" "--jobs 8" "--tid $tid"; do
    # shellcheck disable=SC2086
    "$bin/pugmark" stat $how --symdir "$source/examples/crash" "$tmp/long.data" 2>/dev/null | grep -v second >"$tmp/counts"
    [[ -e $tmp/first ]] || cp "$tmp/counts" "$tmp/first"
    grep -qE '^ *[1-9][0-9]*0000  INSTR_RANGE$' "$tmp/counts" && grep -qE '^ +0  warnings$' "$tmp/counts" && cmp -s "$tmp/counts" "$tmp/first" && continue
    echo "stat $how: other counts, or a warning of its own second look"
    bad=1
  done
fi

# A trace of jumps (CTM), and the program of another core.
osd=$source/../shared/vectors/osd
if [[ -d $osd ]]; then
  for command in calls info; do
    says 0 "" $command --protocol osd-ctm --source 1 --elf "$osd/ctm64/traps.elf" "$osd/ctm64/stream.dtd"
    says 1 "*something is wrong:*the program does not match the trace (1 time, the first at offset 54: the program has no such jump*" \
      $command --protocol osd-ctm --source 1 --elf "$osd/ctm32/traps32.elf" "$osd/ctm64/stream.dtd"
  done
  says 3 "*ids in this trace: 0x01*no such source in it*" list --protocol osd-ctm --source 9 "$osd/ctm64/stream.dtd"
fi
exit $bad
