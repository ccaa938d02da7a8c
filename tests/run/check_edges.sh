#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What rules of pugmark check mean at their edges: calls that began before the trace, its end, losses, missing memory,
# recursion, tail calls, handlers that were running, percentiles and their error.
#   check_edges.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
for tool in clang ld.lld perl; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool here to make a program and its path"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "$*"; bad=1; }

cat >program.s <<'END'
.macro function name
.balign 64
.global \name
.type \name, %function
\name:
.endm
.macro end name
.size \name, . - \name
.endm
.text
function _start // 10000
bl outer
bl lock
bl unlock
bl deep
bl tail
bl cold
b _start
end _start
function outer // 10040
nop
bl inner
nop
ret
end outer
function inner // 10080
nop
nop
ret
end inner
function lock // 100c0
nop
ret
end lock
function unlock // 10100
nop
ret
end unlock
function deep // 10140
cbz x0, 1f
bl deep
1: ret
end deep
function tail // 10180
nop
b inner
end tail
function isr // 101c0
nop
bl inner
eret
end isr
.section .cold, "ax"
function cold // 20000
nop
ret
end cold
END
link() { ld.lld -Ttext=0x10000 --section-start=.cold=0x20000 -e _start program.o -o "$@"; }
clang --target=aarch64-none-elf -g -c program.s -o program.o 2>said && link program.elf ||
  { echo "skipped: this clang makes nothing for aarch64"; exit 77; }
ld.lld -Ttext=0x10000 --section-start=.cold=0x20000 --oformat binary program.o -o program.bin
rules=0
# case NAME LOSS <<SCRIPT: a capture of a path
capture() {
  perl "$source/tests/support/path_file.pl" program.bin 10000 >"$1.path" || exit 1
  "$pugmark" record --quiet --from "$1.path" --protocol etmv4 --core Cortex-A53 --times 1 --out "$1" --loss "$2" || exit 1
}
# expect OPTIONS... CAPTURE <<"VERDICT RULE", on one thread and on two.
expect() {
  local jobs
  cat >table
  sed -E 's/^[a-z]+ +//' table >rules
  sed -E 's/ .*//' table >want
  for jobs in 1 2; do
    "$pugmark" check --quiet --jobs $jobs --format json --elf program.elf --clock 1000000000 rules "$@" >out.$jobs 2>said
    grep -oE '"verdict": "[a-z]+"' out.$jobs | sed -E 's/.*"([a-z]+)"$/\1/' | paste - want rules |
      awk -F'\t' '$1 != $2 { print "  not " $2 " but " $1 ": " $3; wrong = 1 } END { exit wrong || NR == 0 }' ||
      fail "$*: $(head -n 5 said)"
  done
  cmp out.1 out.2 || fail "$*: two threads say something else"
  rules=$((rules + $(wc -l <want)))
}

# ---- a call that began before the trace, and one that its end cuts ----

capture begun 0 <<'END'
at 1000
run 10048 2
at 6000
run 10004 1
run 100c0 2
at 7000
run 10008 1
run 10100 1
at 9000
END
expect begun <<'END'
undecided outer takes < 1s
undecided outer takes < 10ns
undecided outer instructions < 5
violated  outer instructions < 1
undecided outer runs == 1 times
undecided outer runs == 0 times
holds     outer runs < 2 times
holds     outer runs
violated  outer never runs
holds     lock takes < 1001ns
undecided unlock takes < 1s
violated  unlock instructions < 1
holds     unlock follows lock
holds     depth of lock <= 0
holds     depth of _start <= 1
holds     inner not in interrupt
END

# The trace ends before what has to follow; a complete call decides in spite of one that is cut.
capture ends 0 <<'END'
at 1000
run 10000 1
run 10040 2
at 1500
run 10080 3
at 2000
run 10048 2
at 3000
run 10004 1
run 100c0 2
at 4000
run 10008 1
END
expect ends <<'END'
violated  unlock follows lock
undecided unlock within 10us after lock
violated  unlock within 100ns after lock
holds     outer within 10us before lock
holds     outer takes < 2us
holds     outer takes < 2us p99
violated  outer takes < 1900ns total
holds     inner takes < 1us
undecided outer runs every 10us ±1us
violated  outer runs every 1us ±100ns
END
expect --strict ends <<'END'
holds     outer takes < 2us
undecided _start takes < 1s
END

# ---- each B counts; one entry serves all before it ----

capture several 0 <<'END'
at 1000
run 10000 1
run 10040 2
at 2000
run 10080 3
run 10048 2
run 10004 1
run 100c0 2
run 10008 1
run 10100 2
run 1000c 1
run 10140 1
run 10148 1
run 10010 1
run 10180 2
at 4000
run 10080 3
run 10014 1
at 5000
run 20000 2
run 10018 1
END
expect several <<'END'
holds     cold within 5us after inner
violated  cold within 2us after inner
violated  cold within 500ns after tail
holds     inner within 10us before cold
holds     outer within 4us before cold unless undecided
violated  lock within 1ns before cold
END

# ---- recursion: the outermost call; tail calls ----

capture calls 0 <<'END'
at 1000
run 1000c 1
run 10140 2
run 10140 2
run 10140 2
at 2000
run 10140 1
run 10148 1
at 3000
run 10148 1
run 10148 1
run 10148 1
at 4000
run 10010 1
run 10180 2
at 5000
run 10080 3
at 7000
run 10014 1
END
expect calls <<'END'
holds     deep runs == 4 times
holds     deep takes < 3100ns
violated  deep takes < 2900ns
holds     deep instructions == 11 total
holds     depth of deep <= 3
violated  depth of deep < 3
holds     depth of _start <= 4
holds     tail takes < 3100ns
violated  tail takes < 2900ns
holds     tail instructions == 5
holds     tail takes < 1100ns own
holds     inner instructions == 3
holds     inner runs == 1 times
holds     depth of tail <= 0
holds     inner only in tail
violated  inner not in tail
violated  inner not in _start
holds     inner not in deep
holds     tail only in _start unless undecided
END

# ---- a handler that was running when the trace began ----

capture handler 0 <<'END'
at 1000
run 101c0 2
run 10080 3
at 2000
run 101c8 1
eret 10040
run 10040 2
at 3000
run 10080 3
at 4000
run 10048 2
END
expect handler <<'END'
undecided inner not in interrupt
holds     outer not in interrupt
holds     inner runs == 2 times
violated  inner only in isr
END

# ---- losses: a call with one inside is open, unless what was seen violates; distances over one are, too ----

perl -e 'for (0 .. 399) { my $t = 10000 * $_; my $n = 2000 + $_;
  printf "at %d\nrun 10000 1\nrun 10040 2\nat %d\nrun 10080 3\nat %d\nrun 10048 2\nrun 10004 1\nrun 100c0 2\nrun 10008 1\nrun 10100 2\nrun 1000c 1\nrun 10140 1\nrun 10148 1\nrun 10010 1\nrun 10180 2\nrun 10080 3\nrun 10014 1\nrun 20000 2\nrun 10018 1\n",
    $t + 1000, $t + 1500, $t + 1000 + $n }' >rounds
capture lossy 25 <rounds
expect lossy <<'END'
violated  no loss
violated  outer takes < 10ns
undecided outer takes < 1s
undecided outer runs every 10us ±20%
undecided outer runs == 400 times
undecided outer runs > 400 times
undecided isr never runs
violated  cold never runs
undecided isr runs == 0 times
undecided inner not in isr
END

# ---- percentiles: 400 calls of 2000 to 2399 ns; a limit inside of the error does not decide ----

capture spread 0 <rounds
expect spread <<'END'
holds     outer takes < 2250ns p50
violated  outer takes < 2150ns p50
undecided outer takes < 2201ns p50
holds     outer takes < 2420ns p99
holds     outer takes < 2401ns longest
violated  outer takes < 2400ns longest
holds     outer takes >= 2001ns shortest
violated  outer takes >= 2002ns shortest
holds     outer takes < 2202ns mean
violated  outer takes < 2200ns mean
END

# ---- program memory that is missing: what ran there is unknown ----

if command -v llvm-objcopy >/dev/null || ls /usr/lib/llvm-*/bin/llvm-objcopy >/dev/null 2>&1; then
  objcopy=$(command -v llvm-objcopy || ls /usr/lib/llvm-*/bin/llvm-objcopy | head -1)
  "$objcopy" --remove-section=.cold program.elf part.elf
  settings=$(sed -nE 's/^(TRCCONFIGR|TRCTRACEIDR|TRCIDR[0-9]+)\(.*\)=(0x[0-9a-fA-F]+)$/--set \1=\2/p' spread/trace_0.ini | paste -sd' ')
  missing() { # VERDICT RULE
    # shellcheck disable=SC2086
    "$pugmark" check --quiet --format json --protocol etmv4i --transport coresight --core Cortex-A53 $settings --elf part.elf --rule "$2" spread/trace.bin >out 2>said
    grep -q "\"verdict\": \"$1\"" out || fail "memory is missing: not $1: $2: $(cat out said)"
    rules=$((rules + 1))
  }
  missing undecided 'isr never runs'
  missing violated 'lock never runs'
  missing undecided 'isr runs == 0 times'
  missing holds 'outer runs'
fi
[[ $rules -ge 70 ]] || fail "only $rules rules were checked"
exit $bad
