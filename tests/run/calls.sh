#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The call tree of the bundled capture; of the shared vectors: a CTM trace has the calls that the
# host's log of it has, and the same tree as a full trace of the same program.
set -eu
bin=$1 source=$2 vectors=$2/../shared/vectors
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$bin/pugmark" calls --summary "$source/examples/demo" >"$work/demo"
diff - "$work/demo" <<'END'
 SRC        CALLS         TIME     OWN TIME        INSNS  PATH
  10            1     17796428            0          829  0x4000c4()
  10            1     17796428     17701668          820    0x400020()
  10           32        94760        94760          160      0x400000()
  10           41            0            0          123      0x400014()
END
"$bin/pugmark" calls "$source/examples/demo" >"$work/demo"
[[ $(grep -c '0x400014();' "$work/demo") == 41 ]]
[[ $(grep -c '{$' "$work/demo") == $(grep -c '}' "$work/demo") ]]

if [[ ! -d $vectors ]]; then
  echo "no vectors at $vectors: only the bundled capture was looked at"
  exit 0
fi
ctm=(--protocol osd-ctm --source 1 --elf "$vectors/osd/ctm64/traps.elf")
ntrace=(--protocol ntrace --elf "$vectors/ntrace/spec-traps/traps.elf")

"$bin/pugmark" calls "${ctm[@]}" "$vectors/osd/ctm64/stream.dtd" >"$work/calls"
for function in main f0 f1 f2 f3 rnd trap deep fib sw; do
  logged=$(grep -c "enter $function\$" "$vectors/osd/ctm64/coretrace-elf.0001.log")
  [[ $(grep -cE " $function\(\)( \{|;)" "$work/calls") == "$logged" ]]
done

# Paths and how often they were gone. Traps are left out: a CTM does not show them all.
"$bin/pugmark" calls --summary "${ntrace[@]}" "$vectors/ntrace/spec-traps/htm-ts-own-traps.nex" |
  cut -c 6-18,60- | grep -v 'trap\|rnd' | sort >"$work/full"
"$bin/pugmark" calls --summary "${ctm[@]}" "$vectors/osd/ctm64/stream.dtd" |
  cut -c 6-18,60- | grep -v 'trap\|rnd' | sort >"$work/jumps"
diff "$work/full" "$work/jumps"
