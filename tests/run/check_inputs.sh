#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark check over several cores, Open SoC Debug, watched variables, saved profiles and live inputs.
#   check_inputs.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
for tool in clang ld.lld perl; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool here to make a program and its path"; exit 77; }
done
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
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
.macro variable name, size
.global \name
.type \name, %object
.size \name, \size
\name: .space \size
.endm
.text
function _start // 10000
bl work
b _start
end _start
function work // 10040
nop
bl part
ret
end work
function part // 10080
nop
ret
end part
.section .bss, "aw", %nobits
.balign 16
variable speed, 4 // 20000
variable gear, 1 // 20004
.balign 16
variable table, 64 // 20010
END
clang --target=aarch64-none-elf -g -c program.s -o program.o 2>said &&
  ld.lld -Ttext=0x10000 -Tbss=0x20000 -e _start program.o -o program.elf || { echo "skipped: this clang makes nothing for aarch64"; exit 77; }
ld.lld -Ttext=0x10000 -Tbss=0x20000 --oformat binary program.o -o program.bin
record() { # NAME PATH OPTIONS...
  local name=$1
  perl "$source/tests/support/path_file.pl" program.bin 10000 <"$2" >"$name.path" || exit 1
  "$pugmark" record --quiet --from "$name.path" --protocol etmv4 --core Cortex-A53 --out "$name" --times 1 "${@:3}" || exit 1
}

# expect OPTIONS... CAPTURE <<"VERDICT RULE", on one thread and on two.
expect() {
  local jobs
  cat >table
  sed -E 's/^[a-z]+ +//' table >rules
  sed -E 's/ .*//' table >want
  for jobs in 1 2; do
    "$pugmark" check --quiet --jobs $jobs --format json rules "$@" >out.$jobs 2>said
    grep -oE '"verdict": "[a-z]+"' out.$jobs | sed -E 's/.*"([a-z]+)"$/\1/' | paste - want rules |
      awk -F'\t' '$1 != $2 { print "  not " $2 " but " $1 ": " $3; wrong = 1 } END { exit wrong || NR == 0 }' ||
      fail "$*: $(head -n 5 said)"
  done
  cmp out.1 out.2 || fail "$*: two threads say something else"
}

# ---- two cores: the second one is as slow again, and never enters part ----

rounds() { # CORE NS ROUNDS
  echo "core $1"
  perl -e 'my ($ns, $rounds, $part) = @ARGV; for (0 .. $rounds - 1) { my $t = 10000 * $_;
    printf "at %d\nrun 10000 1\nrun 10040 2\nat %d\nrun 10080 2\nat %d\nrun 10048 1\nrun 10004 1\n", $t + 1000, $t + 1000 + $ns, $t + 1000 + 2 * $ns }' "$2" "$3"
}
{ rounds 0 1000 5; rounds 1 2000 3; } >two
record cores two
expect --elf program.elf --clock 1000000000 cores <<'END'
holds     work runs == 8 times
violated  work runs == 5 times for each core
holds     work runs >= 3 times for each core
violated  work runs > 3 times for each core
holds     work takes < 4100ns for each core
violated  work takes < 3000ns for each core
holds     work takes < 4100ns
violated  work takes < 20us total
holds     work takes < 12100ns total for each core
violated  work takes < 12us total for each core
holds     work takes < 2100ns shortest
violated  work takes < 2100ns shortest for each core
holds     work runs every 10us ±1% for each core
holds     part within 2100ns after work for each core
violated  part within 1100ns after work for each core
violated  part follows work for each core
holds     depth of _start <= 2 for each core
END
"$pugmark" check --quiet --elf program.elf --clock 1000000000 --rule 'work runs == 5 times for each core' cores >out 2>said
grep -q 'it ran 3 times in source 0x1[0-9]' out || fail "not said which core: $(cat out)"

# ---- watched variables, by name ----

cat >events <<'END'
data 0 address=0x20000 value=7 written size=4
at 1000
data 1 address=0x20004 value=3 written size=1
at 2000
data 2 address=0x20014 value=9 written size=4
at 3000
data 0 address=0x20002 value=1 written size=2
at 4000
END
"$pugmark" record --quiet --protocol dwt --script events --out watched || exit 1
expect --elf program.elf watched <<'END'
undecided watch speed stays < 8
violated  watch speed stays < 7
violated  watch speed never
holds     watch gear stays <= 3
violated  watch gear stays == 2
violated  watch table never
undecided watch table stays < 10
violated  watch 0x20004 never
holds     watch 0x20005 never
END
code=0
"$pugmark" check --quiet --elf program.elf --rule 'watch sped never' watched >out 2>said || code=$?
[[ $code == 2 && ! -s out ]] && grep -q "^--rule:1:7: the program has no variable 'sped'; did you mean 'speed'?" said ||
  fail "a misspelt variable: exit $code: $(cat said)"
code=0
"$pugmark" check --quiet --rule 'watch speed never' watched >out 2>said || code=$?
[[ $code == 2 ]] && grep -q 'so no variable is: give it with --elf FILE' said || fail "no program: exit $code: $(cat said)"

# ---- Open SoC Debug: jumps with their times, and words of software ----

cat >events <<'END'
ctm 1 64 16 0x1000c 0x10040 0x0b
END
if [[ -d $source/../shared/vectors/osd/ctm64 ]]; then
  osd=$source/../shared/vectors/osd
  count() { grep -c "enter $1\$" "$osd/ctm64/coretrace-elf.0001.log"; }
  expect --protocol osd-ctm --source 1 --elf "$osd/ctm64/traps.elf" "$osd/ctm64/stream.dtd" <<END
holds     sw runs == $(count sw) times
violated  sw runs < $(count sw) times
holds     rnd runs == $(count rnd) times
violated  fib never runs
holds     sw takes < 400 ticks
undecided sw takes < 300 ticks
violated  sw takes < 100 ticks
undecided sw takes < 1us
undecided sw takes < 100 cycles
holds     no loss
violated  no exception
holds     rnd instructions < 50
undecided itm port 0 never matches "x"
END
  expect --protocol osd-ctm --source 1 --elf "$osd/ctm64-ovf/traps.elf" "$osd/ctm64-ovf/stream.dtd" <<'END'
violated  no loss
undecided sw runs == 100000 times
END
  expect --protocol osd-stm --source 5 "$osd/stm32/stream.dtd" <<'END'
undecided main never runs
holds     no loss
END
fi
printf 'stm 4 64 1 4 0x41\nstm 4 64 2 4 0x53\nstm 4 64 3 4 0x42\nstm 4 64 4 4 0x0a\n' >events
"$pugmark" record --quiet --protocol osd --script events --out words || exit 1
expect words <<'END'
holds     itm port 4 matches "ASB"
violated  itm port 4 never matches "SB"
holds     itm port 4 never matches "ABS"
holds     no loss
END

# ---- a saved profile as --baseline: instructions are compared ----

{ rounds 0 1000 5; } >some
{ rounds 0 1000 50; } >more
record few some
record often more
for name in few often; do "$pugmark" profile --quiet --elf program.elf -o $name.profile $name || fail "no profile of $name"; done
code() { "$pugmark" check --quiet "$@" >out 2>said; echo $?; }
[[ $(code --baseline few.profile --elf program.elf few) == 0 ]] && grep -q '^3 functions compared, 0 more than 10 %' out || fail "same: $(cat out said)"
[[ $(code --baseline few.profile --elf program.elf often) == 1 ]] && grep -q '^SLOWER  *work: it ran 150 instructions, was 15 ' out || fail "slower: $(cat out said)"
[[ $(code --baseline few.profile --tolerance 900 --elf program.elf often) == 0 ]] || fail "--tolerance 900: $(cat out said)"
[[ $(code --baseline few.profile --tolerance 899 --elf program.elf often) == 1 ]] || fail "--tolerance 899: $(cat out said)"
[[ $(code --baseline often.profile --elf program.elf few) == 0 ]] || fail "faster: $(cat out said)"
[[ $(code --baseline few.profile --rule 'work runs' --format json --elf program.elf often) == 1 ]] && grep -q '^SLOWER' said && ! grep -q SLOWER out ||
  fail "--format json: $(cat out said)"
[[ $(code --baseline nosuch --elf program.elf few) == 2 ]] || fail "no such baseline: $(cat out said)"

# ---- a live input by TCP: it stops at the first violation, or after its time ----

if command -v python3 >/dev/null; then
  cat >serve.py <<'END'
import socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(1)
print(s.getsockname()[1], flush=True)
c, _ = s.accept()
try:
    c.sendall(open(sys.argv[1], "rb").read())
    time.sleep(float(sys.argv[2]))
except OSError:
    pass
END
  settings=$(sed -nE 's/^(TRCCONFIGR|TRCTRACEIDR|TRCIDR[0-9]+)\(.*\)=(0x[0-9a-fA-F]+)$/--set \1=\2/p' often/trace_0.ini | paste -sd' ')
  live() { # SECONDS-SERVED OPTIONS...
    local served=$1 port server
    shift
    rm -f port
    python3 serve.py often/trace.bin "$served" >port &
    server=$!
    for _ in $(seq 100); do [[ -s port ]] && break; sleep 0.1; done
    port=$(cat port)
    # shellcheck disable=SC2086
    timeout 30 "$pugmark" check "$@" --protocol etmv4i --transport coresight --core Cortex-A53 $settings --elf program.elf "tcp:127.0.0.1:$port" >out 2>said
    echo $?
    kill $server 2>/dev/null
  }
  started=$SECONDS
  [[ $(live 20 --for 15s --rule 'work never runs' --rule 'part never runs') == 1 && $(grep -c '^VIOLATED' out) == 1 ]] || fail "tcp: $(cat out said)"
  [[ $((SECONDS - started)) -lt 10 ]] || fail "tcp: it did not stop at the first violation"
  [[ $(live 20 --for 2s --keep-going --rule 'work never runs' --rule 'part never runs') == 1 && $(grep -c '^VIOLATED' out) == 2 ]] ||
    fail "tcp --keep-going: $(cat out said)"
  grep -q '^--rule:1: violated: work never runs' said || fail "not said while it ran: $(cat said)"
  [[ $(live 20 --for 2s --rule 'work runs') == 0 ]] || fail "tcp, all holds: $(cat out said)"
fi
exit $bad
