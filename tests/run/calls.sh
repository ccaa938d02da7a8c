#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The call tree of the bundled capture; of the shared vectors: a CTM trace has the calls that the
# host's log of it has, and the same tree as a full trace of the same program.
set -eu
bin=$1 source=$2 vectors=$2/../shared/vectors
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"

own() {
  "$bin/pugmark" calls --summary "$source/examples/demo" >"$work/demo"
  diff - "$work/demo" <<'END'
 SRC        CALLS   TIME/ticks    OWN/ticks        INSNS  PATH
  10            1       946864            0          829  [4000c4]()
  10            1       946864       852104          820    [400020]()
  10           32        94760        94760          160      [400000]()
  10           41            0            0          123      [400014]()
END
  "$bin/pugmark" calls "$source/examples/demo" >"$work/demo"
  [[ $(grep -cF '[400014]();' "$work/demo") == 41 ]]
  [[ $(sed -n 3p "$work/demo" | cut -c 6-) == *'[times are in ticks]' ]]
  [[ $(grep -c '{$' "$work/demo") == $(grep -c '}' "$work/demo") ]]
}
if [[ ${PUG_PART-} != shared ]]; then own; fi
[[ ${PUG_PART-} != own ]] || exit 0
if [[ ! -d $vectors ]]; then
  echo "skipped: no vectors at $vectors"
  exit 77
fi
ctm=(--protocol osd-ctm --source 1 --elf "$vectors/osd/ctm64/traps.elf")
ntrace=(--protocol ntrace --elf "$vectors/ntrace/spec-traps/traps.elf")

"$bin/pugmark" calls "${ctm[@]}" "$vectors/osd/ctm64/stream.dtd" >"$work/calls"
for function in main f0 f1 f2 f3 rnd trap deep fib sw; do
  logged=$(grep -c "enter $function\$" "$vectors/osd/ctm64/coretrace-elf.0001.log")
  [[ $(grep -cE " $function\(\)( \{|;)" "$work/calls") == "$logged" ]]
done

# Each call enters and leaves at the time that the log has. The log does not show where recursive
# functions return to themselves, nor traps.
events() { # of a call tree, one a line: the time, whether it enters or leaves, the function
  awk '
    { time = substr($0, 5, 13) + 0; took = substr($0, 18, 13) + 0; text = substr($0, 46) }
    { sub(/^ */, "", text); sub(/^\[[^]]*\] /, "", text); name = text; sub(/\(\).*/, "", name) }
    text ~ /\(\) {$/ { printf "%08x enter %s\n", time, name; stack[++depth] = name }
    text ~ /\(\);/ { printf "%08x enter %s\n%08x leave %s\n", time, name, time + took, name }
    text ~ /^}/ { printf "%08x leave %s\n", time, stack[depth--] }' "$1"
}
logged() { grep -E '(enter|leave) (f[0-3]|rnd|trap|sw)$|enter (main|fib|deep)$' "$1"; }
for log in ctm64:1 ctm32:2; do
  folder=$vectors/osd/${log%:*} id=${log#*:}
  "$bin/pugmark" calls --protocol osd-ctm --source "$id" --elf "$folder"/*.elf "$folder/stream.dtd" >"$work/calls"
  events "$work/calls" >"$work/ours"
  diff <(logged "$folder/coretrace-elf.000$id.log") <(logged "$work/ours")
done

# Six timer interrupts in a row are six calls, not one in another.
traps=$vectors/etrace/traps
"$bin/pugmark" calls --quiet --protocol etrace --params "$traps/base.params" --elf "$traps/program.elf" \
  --image "$traps/bootrom.bin@0x1000" "$traps/base.te" >"$work/traps"
[[ $(grep -c ' wait() {$' "$work/traps") == 1 ]]
[[ $(sed -n '/ wait() {$/,/ }$/p' "$work/traps" | grep -c ' mint();$') == 6 ]]

# Paths and how often they were gone. Traps are left out: a CTM does not show them all.
"$bin/pugmark" calls --summary "${ntrace[@]}" "$vectors/ntrace/spec-traps/htm-ts-own-traps.nex" |
  cut -c 6-18,60- | grep -v 'trap\|rnd' | sort >"$work/full"
"$bin/pugmark" calls --summary "${ctm[@]}" "$vectors/osd/ctm64/stream.dtd" |
  cut -c 6-18,60- | grep -v 'trap\|rnd' | sort >"$work/jumps"
diff "$work/full" "$work/jumps"
