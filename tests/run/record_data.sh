#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `pugmark record --data`: accesses to memory as data trace; what is decoded of it is what was accessed, and
# what is not is found. Forms of all kinds are in truth.sh.
set -eu
bin=$1 source=$2
command -v qemu-riscv64 >/dev/null && command -v qemu-arm >/dev/null || { echo "there is no qemu-user here"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
"$source/tests/truth/build.sh" "$work" {accesses.{a32,t32,rv32},{accesses,plain,mixture}.rv64}

record() { # SET PROTOCOL OPTIONS...
  "$bin/pugmark" record --quiet --force --data --protocol "$2" --out "$work/out" --path "$work/path" "${@:3}" \
    -- "$work/accesses.$1" 1 >/dev/null
}
verify() {
  "$bin/pugmark" pc "$work/out" --quiet --verify "$work/path" >"$work/said" 2>&1
}

# Loads and stores of all sizes, with the instruction that made them.
for pair in "rv64 etrace" "rv32 etrace" "a32 etmv3" "t32 etmv3"; do
  read -r set protocol <<<"$pair"
  record "$set" "$protocol"
  verify
  grep -q 'equal: .* [0-9]* accesses to memory' "$work/said"
  "$bin/pugmark" list "$work/out" >"$work/list"
  for access in load store; do
    for size in 1 2 4; do grep -q "DATA_VALUE($access addr=0x.* size=$size value=0x.* pc=0x" "$work/list"; done
  done
  [[ $set != rv* ]] || for access in swap add and or xor max min; do grep -q "($access operand " "$work/list"; done
done

# Read in a way that is not how it was written: the first access that did not run is reported, with its packet.
record rv64 etrace --set data_form=2 --set data_method=3 --set data_diff_bits=1
verify
sed -i 's/^compression=diff/compression=xor/' "$work"/out/*.ini
if verify; then exit 1; fi
grep -q 'differs: processor 0, access [0-9]*, its value: the trace tells 0x' "$work/said"
grep -q 'its packet: index' "$work/said"

# A trace that lacks the last ones, and a path that does.
record rv64 etrace
cp "$work/path" "$work/all"
"$bin/pugmark" record --quiet --data --protocol etrace --from "$work/all" --limit 5000 --out "$work/short" --path "$work/path"
for pair in "short all" "out path"; do
  read -r folder path <<<"$pair"
  if "$bin/pugmark" pc "$work/$folder" --quiet --verify "$work/$path" >"$work/said" 2>&1; then exit 1; fi
  grep -q differs "$work/said"
done
"$bin/pugmark" pc "$work/short" --quiet --verify "$work/path" | grep -q 'accesses to memory'

# The path alone has them; a trace of instructions alone is compared with it as ever.
"$bin/pugmark" record --quiet --protocol ntrace --from "$work/all" --out "$work/plain"
"$bin/pugmark" pc "$work/plain" --verify "$work/all" | grep -qx 'equal: [0-9]* instructions of 1 processor'

# The program is kept beside the trace, so that its functions have names; also where it was moved. What ran is in
# dumps, and several processors have the same program.
clang --target=riscv64-linux-gnu -march=rv64gc -ffreestanding -nostdlib -static-pie -fPIE -fuse-ld=lld -O1 -DONE_THREAD \
  -Wno-unused-command-line-argument -o "$work/moved" "$source"/tests/truth/{system,mixture}.c
for program in plain.rv64 moved; do
  "$bin/pugmark" record --protocol etrace --out "$work/named" -- "$work/$program" 1 >/dev/null 2>"$work/said"
  ! grep -q ' names with --elf ' "$work/said" || exit 1
  "$bin/pugmark" profile "$work/named" 2>"$work/said" | grep -q " fibonacci  .* $program\$"
  [[ ! -s $work/said ]] || { cat "$work/said"; exit 1; }
done
"$bin/pugmark" record --quiet --protocol etrace --path "$work/ran" --out "$work/threads" -- "$work/mixture.rv64" 1 >/dev/null
mv "$work/mixture.rv64" "$work/gone"
# A thread that begins when another has ended is on its processor.
"$bin/pugmark" pc "$work/threads" --verify "$work/ran" 2>&1 | grep -qx 'equal: .* of [2-4] processors'
"$bin/pugmark" record --quiet --protocol etrace --from "$work/ran" --out "$work/nameless"
[[ -z $(find "$work/nameless" -name 'program_*') ]]

# Recorded again into a folder, nothing is left of what was there, but with --force what is somebody's own.
again() { # FOLDER OPTIONS...
  "$bin/pugmark" record --quiet --protocol etrace --limit 2000 --from "$work/ran" --out "$work/$1" "${@:2}"
}
rm -r "$work/out"
record rv64 etrace --set data_form=1
echo mine >"$work/threads/notes.txt"
mkdir "$work/threads/program_7"
echo mine >"$work/threads/program_7/mine"
again threads --force
again out
rm "$work/threads/notes.txt" "$work/threads/program_7/mine"
rmdir "$work/threads/program_7"
again fresh
for folder in threads out; do diff -r "$work/fresh" "$work/$folder"; done

# Fields of other widths; what ran has addresses of 39 bits.
widths() { # PROTOCOL WITH-DATA OPTIONS...
  local protocol=$1 data=$2 option more
  for option in "${@:3}"; do
    for more in "" ${data:+"--set data_mma_cas=1 --set data_split=1" "--set data_form=2"} "--random 6 --calls on" "--random 7 --loss 20"; do
      # shellcheck disable=SC2086
      "$bin/pugmark" record --quiet --from "$work/all" --path "$work/path" --out "$work/out" --protocol "$protocol" $data \
        --limit 20000 $more --set "$option" 2>"$work/said"
      verify || { echo "$set $protocol $option $more:"; cat "$work/said"; exit 1; }
    done
  done
}
for set in rv32 rv64; do
  "$bin/pugmark" record --quiet --data --path "$work/all" -- "$work/accesses.$set" 1 >/dev/null
  widths etrace --data data_width={8,32,128} daddress_width=40 lrid_width={0,6} dtype_width={1,2,3} type_bits={1,32} \
    iaddress_width=40 iaddress_{lsb=0,sign_extend=1} privilege_width={1,4} ecause_width={4,40}
  widths ntrace "" addr_bits=40 ts_width={1,20} stack_depth=2
done

# Values out of order, after placeholders with their addresses.
for set in a32 t32; do
  for options in "" "--random 4" "--calls on --loss 20"; do
    # shellcheck disable=SC2086
    record $set etmv3 --set later_once_in=3 --set data_form=0 $options
    verify || { echo "$set out of order $options:"; cat "$work/said"; exit 1; }
    "$bin/pugmark" list --packets "$work/out" >"$work/list"
    [[ $(grep -c 'OOO_ADDR_PLC' "$work/list") -gt 100 && $(grep -c 'OOO_DATA' "$work/list") -gt 100 ]]
  done
done

# Spike's log has accesses, too, and those of control registers: the old value and the operand, also where that follows only from
# the new one; an operand of a register that was written before is that register.
cat >"$work/spike" <<'LOG'
core   0: 3 0x0000000080000000 (0x00000597) x11 0x0000000080002000
core   0: 3 0x0000000080000004 (0x30005073) c768_mstatus 0x0000000a00000000
core   0: 3 0x0000000080000008 (0x34059573) x10 0x0000000000001234 c832_mscratch 0x0000000080002000
core   0: 3 0x000000008000000c (0xf1402673) x12 0x0000000000000007
core   0: 3 0x0000000080000010 (0x304736f3) x13 0x00000000000000aa c772_mie 0x00000000000000a0
core   0: 3 0x0000000080000014 (0x00058303) x 6 0xfffffffffffffff0 mem 0x0000000080002001
core   0: 3 0x0000000080000018 (0x0055a223) mem 0x0000000080002004 0x76543210
core   0: 3 0x000000008000001c (0x0055a3af) x7  0x0000000000000005 mem 0x0000000080002000 mem 0x0000000080002000 0x76543215
core   0: 3 0x0000000080000020 (0x4004) x9  0xffffffff89abcdef mem 0x0000000080002008
core   0: 3 0x0000000080000022 (0x0005a507) c1_fflags 0x0000000000000000 f10 0xffffffff3f800000 mem 0x0000000080002010
core   0: 3 0x0000000080000026 (0x00000463)
core   0: 3 0x000000008000002e (0x0005b507) f10 0x3ff0000000000000 mem 0x0000000080002010
core   0: 3 0x0000000080000032 (0x00000013)
LOG
sed 's/0x00000000\([0-9a-f]\{8\}\)/0x\1/g; s/0xffffffff\([0-9a-f]\{8\}\)/0x\1/g; s/0x0000000a/0x/' "$work/spike" >"$work/spike32"
cat >"$work/expected" <<'DATA'
csr-rw operand addr=0x300 value=0x0 pc=0x80000004
csr-rw addr=0x300 value=0x0 pc=0x80000004
csr-rw operand addr=0x340 value=0x80002000 pc=0x80000008
csr-rw addr=0x340 value=0x1234 pc=0x80000008
csr-rs addr=0xf14 value=0x7 pc=0x8000000c
csr-rc operand addr=0x304 value=0xa pc=0x80000010
csr-rc addr=0x304 value=0xaa pc=0x80000010
load addr=0x80002001 value=0xf0 pc=0x80000014
store addr=0x80002004 value=0x76543210 pc=0x80000018
add operand addr=0x80002000 value=0x76543210 pc=0x8000001c
add addr=0x80002000 value=0x5 pc=0x8000001c
load addr=0x80002008 value=0x89abcdef pc=0x80000020
load addr=0x80002010 value=0x3f800000 pc=0x80000022
load addr=0x80002010 value=0x3ff0000000000000 pc=0x8000002e
DATA
for log in spike spike32; do
  for options in "" "--set data_form=1" "--set data_form=2" "--set data_mma_cas=1 --set data_split=1" "--set iaddress_sign_extend=1" "--random 1" \
    "--random 2" "--random 3"; do
    # shellcheck disable=SC2086
    "$bin/pugmark" record --quiet --data --protocol etrace --from "$work/$log" --out "$work/out" --path "$work/path" $options
    "$bin/pugmark" pc "$work/out" --quiet --verify "$work/path" | grep -q 'equal: 13 .*, 10 accesses' || { echo "$log $options"; exit 1; }
  done
done
"$bin/pugmark" record --quiet --data --protocol etrace --from "$work/spike" --out "$work/out"
"$bin/pugmark" list "$work/out" | sed -n 's/ size=[0-9]*//; s/.*DATA_VALUE(\(.*\))/\1/p' | diff "$work/expected" -

refuses() { # WORDS ARGUMENTS...
  if "$bin/pugmark" record --quiet --data "${@:2}" 2>"$work/said"; then exit 1; fi
  grep -q "$1" "$work/said"
}
refuses 'addresses that need more bits' --protocol etrace --from "$work/all" --out "$work/no" --set daddress_width=38
refuses 'addresses that need more bits' --protocol etrace --from "$work/all" --out "$work/no" --set iaddress_width=16
refuses 'addresses that need more bits' --protocol etrace --from "$work/all" --out "$work/no" --set iaddress_lsb=2
refuses 'no data trace is made of it here' --protocol ntrace --from "$work/all" --out "$work/no"
"$bin/pugmark" record --quiet --path "$work/without" -- "$work/accesses.rv64" 1 >/dev/null
refuses 'it tells no accesses to memory' --protocol etrace --from "$work/without" --out "$work/no"
