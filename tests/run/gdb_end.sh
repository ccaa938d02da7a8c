#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a snapshot knows beside the trace, in GDB: registers and memory of a core that halted are those at the last
# position, and nowhere else; what a DWT saw of memory is known from then on.
set -eu
bin=$1 source=$2
command -v gdb-multiarch >/dev/null || { echo "needs gdb-multiarch, which is not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export HOME=$tmp
said() { # SNAPSHOT GDB'S COMMANDS...: what GDB says of them
  local commands=() command
  for command in "${@:2}"; do commands+=(-ex "$command"); done
  "$bin/pugmark" gdb --quiet "$1" -- -nx -batch "${commands[@]}" 2>&1 || true
}
has() { # PATTERN TEXT
  grep -qE -- "$1" <<<"$2" || { printf 'no %s in:\n%s\n' "$1" "$2"; exit 1; }
}

# The core's registers: of the place where the trace ends, where its own pc is that place.
cp -r "$source/examples/crash" "$tmp/halted"
perl -e 'print map chr, 0 .. 63' >"$tmp/halted/ram.bin"
registers() { # PC
  printf '%s\n' '[device]' name=cpu_0 class=core type=Cortex-A53 '[regs]' "PC(size:64)=$1" 'SP(size:64)=0x7ff0123400' \
    'X0(size:64)=0x1234' X5=0x77 LR=0x2102e0 CPSR=0x1C5 '[dump1]' file=ram.bin address=0x800000 '[elf0]' file=crash \
    >"$tmp/halted/cpu_0.ini"
}
shown=('info registers pc sp x0 x5 x6 x30 cpsr' 'x/2wx 0x800004')
registers 0x2102e8
text=$(said "$tmp/halted" 'pugmark goto end' "${shown[@]}")
for known in 'pc +0x2102e8' 'sp +0x7ff0123400' 'x0 +0x1234' 'x5 +0x77' 'x6 +<unavailable>' 'x30 +0x2102e0' 'cpsr +0x1c5' \
  '0x800004:.*0x07060504.*0x0b0a0908'; do
  has "^$known" "$text"
done
text=$(said "$tmp/halted" 'pugmark goto end' reverse-stepi "${shown[@]}")
for unknown in 'sp +<unavailable>' 'x0 +<unavailable>' 'cpsr +<unavailable>' '.*Cannot access memory at address 0x800004'; do
  has "^$unknown" "$text"
done
registers 0x2103a4 # it went on after the trace
text=$(said "$tmp/halted" 'pugmark goto end' "${shown[@]}")
has '^sp +<unavailable>' "$text"

# An ITM beside it, whose timestamps are those of the trace.
cp -r "$source/examples/crash" "$tmp/watched"
cat >"$tmp/script" <<'SCRIPT'
time 0x85cc00
data 0 value=42 written size=4
time 0x85cc8f
data 0 value=43 written size=4
time 0x85ce3d
SCRIPT
"$bin/pugmark" record --quiet --script "$tmp/script" --protocol itm --out "$tmp/itm" >"$tmp/words"
cp "$tmp/itm/trace.bin" "$tmp/watched/itm.bin"
sed -e 's/source_0/itm_0/' "$tmp/itm/source_0.ini" >"$tmp/watched/itm_0.ini"
echo 'DWT_COMP0=0x20000000' >>"$tmp/watched/itm_0.ini"
sed -i '/^device0/a device9=itm_0.ini' "$tmp/watched/snapshot.ini"
sed -i -e 's/^buffers=.*/&,buffer1/' -e '/^\[source_buffers\]/i [buffer1]\nname=itm\nfile=itm.bin\nformat=coresight\n' \
  -e '/^\[source_buffers\]/a itm_0=itm' "$tmp/watched/trace.ini"
text=$(said "$tmp/watched" 'pugmark goto time 0x85cc72' 'x/1wd 0x20000000' 'pugmark goto time 0x85ccc4' 'x/1wd 0x20000000' \
  'pugmark goto end' 'x/1wd 0x20000000' 'pugmark goto #0' 'x/1wd 0x20000000')
has 'Cannot access memory at address 0x20000000' "$(head -n 7 <<<"$text")"
has '0x20000000:.42$' "$text"
has '0x20000000:.43$' "$text"
[[ $(grep -c 'Cannot access memory' <<<"$text") == 2 ]] || { echo "$text"; exit 1; }
