#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The example programs do what they say, on the bundled capture and on a few packets of E-Trace.
set -eu
bin=$1 source=$2 demo=$2/examples/demo
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$bin/example_external_protocol" | grep -q 'SWTRACE( (Ma:0x00; Ch:0x01) 0x2a; )'
[[ $("$bin/example_external_flow" | grep -c INSTR_RANGE) == 4 ]]

# A live stream: the registers of the bundled capture, its memory through a callback.
sed -n '/^\[regs\]/,/^\[/s/^\([A-Z0-9]*\)(.*)=\(.*\)/\1 = \2/p' "$demo/ETM_0.ini" >"$work/registers"
"$bin/example_live" ETMV4I "$work/registers" "$demo/program.bin" 0x400000 <"$demo/trace.bin" | diff - "$demo/path.txt"

# Rules: one that holds, one that does not, one of a function that is not there.
"$bin/example_rules" "$source/examples/crash" "is_name runs == 9 times" | grep -qx 'holds: is_name runs == 9 times'
if "$bin/example_rules" "$source/examples/crash" "call never runs" >"$work/said"; then exit 1; fi
grep -qx 'violated: call never runs: it ran' "$work/said"
if "$bin/example_rules" "$source/examples/crash" "read_lin never runs" >"$work/said" 2>&1; then exit 1; fi
grep -q "did you mean 'read_line'" "$work/said"

# Instructions of functions: without symbols all are of none.
[[ $("$bin/example_functions" "$demo") == *" $(wc -l <"$demo/path.txt")  [unknown]" ]]

if ! command -v clang >/dev/null || ! command -v ld.lld >/dev/null; then
  echo "no clang or no ld.lld: nothing with symbols was looked at"
  exit 77
fi
# The same memory as an ELF file with names.
cp -r "$demo" "$work/demo"
cat >"$work/names.s" <<END
  .text
  .macro function name, from, size
  .globl \\name
  .type \\name, %function
\\name: .incbin "$demo/program.bin", \\from, \\size
  .size \\name, \\size
  .endm
  function compare, 0, 0x14
  function swap, 0x14, 0xc
  function sort, 0x20, 0xa4
  function start, 0xc4, $(($(stat -c %s "$demo/program.bin") - 0xc4))
END
clang --target=aarch64-none-elf -c -o "$work/names.o" "$work/names.s"
ld.lld -Ttext=0x400000 -e start -o "$work/demo/program.elf" "$work/names.o"
printf '[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n\n[regs]\n\n[elf]\nfile=program.elf\n' >"$work/demo/cpu_0.ini"
# All addresses have as many digits.
count() { awk -v from="$1" -v to="$2" '("x" $1) >= ("x" from) && ("x" $1) < ("x" to) {c++} END {print c}' "$demo/path.txt"; }
printf '%10d  %s\n' "$(count 400020 4000c4)" sort "$(count 400000 400014)" compare "$(count 400014 400020)" swap \
  "$(count 4000c4 500000)" start | sort -k 1rn >"$work/wanted"
"$bin/example_functions" "$work/demo" | sort -k 1rn | diff "$work/wanted" -

# Two calls from a main function, and a jump out of it: packets of tests/cases/etrace/returns.txt.
cat >"$work/calls.s" <<END
  .text
  .type main, %function
main: .word 0x020000ef, 0x00150513, 0x018000ef, 0x00150513, 0x00001337, 0x03030067, 0x00150513, 0x00150513
  .size main, . - main
  .type twice, %function
twice: .word 0x00150513, 0x00008067, 0x00150513, 0x00150513
  .size twice, . - twice
  .type away, %function
away: .word 0x00150513, 0x00038067
  .size away, . - away
END
clang --target=riscv64-none-elf -mno-relax -c -o "$work/calls.o" "$work/calls.s"
ld.lld -Ttext=0x1000 -e main -o "$work/calls.elf" "$work/calls.o"
cat >"$work/calls.params" <<END
xlen = 64
iaddress_width_p = 64
ecause_width_p = 4
return_stack_size_p = 2
sijump_p = 1
support_format = std
iret_field = irets
END
printf '\x04\x1f\x06\x81\x00\x03\x73\x00\x04\x09\x62\x00\x00\x00\x00\x00\x00\x00\x28' >"$work/calls.te"
"$bin/example_etrace_calls" "$work/calls.params" "$work/calls.elf" "$work/calls.te" | diff - <(printf 'main\n  twice\n  twice\naway\n')
