#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# SWO that something is wrong with: another baud rate, another clock, noise between packets, another build's program. Each gets
# a sentence that says what to do, and nothing is shown as good.
#   swo_wrong.sh BIN SOURCE
set -eu
bin=$1 source=$2
pugmark=$bin/pugmark
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
says() { # NAME WORDS FILE
  grep -qF -- "$2" "$3" || { printf '%s: no %q in\n' "$1" "$2"; cat "$3"; exit 1; }
}
write() { perl -I"$source/tests/support" -Mswo -e "$1; swo::done()"; }
part() { bash "$source/tests/report/unpack.sh" "$1" head; }

# SysTick every 16,000 cycles, text, samples.
write 'for my $n (1 .. 40) { swo::sync if $n % 4 == 1; swo::text(0, "line $n\n"); swo::time(1000); swo::enter(15); swo::time(300); swo::leave(15);
  swo::time(10); swo::back(0); swo::time(2); swo::sample(0x08000100 + 2 * ($n % 7)); swo::time(14688) }' >good.swo

# ---- another baud rate: the bits as they are on the line, read by a faster or slower receiver ----
cat >line.pl <<'P'
my ($ratio) = @ARGV;
local $/;
my $bits = '1111';
for my $byte (unpack 'C*', <STDIN>) { $bits .= '0' . join('', map { $byte >> $_ & 1 } 0 .. 7) . '1' }
my ($time, $end, $step) = (0, length $bits, 1 / $ratio);
sub at { my $bit = int $_[0]; return $bit < $end ? substr($bits, $bit, 1) : 1 }
while ($time < $end) {
    if (at($time) || at($time + $step / 2)) { $time += $step / 16; next }
    my $middle = $time + $step / 2;
    print chr eval { my $byte = 0; $byte |= at($middle + $step * ($_ + 1)) << $_ for 0 .. 7; $byte };
    $time = $middle + 9 * $step;
}
P
perl line.pl 1 <good.swo | cmp - good.swo
for ratio in 0.25 0.5 0.9 1.1 1.5 2 4; do
  perl line.pl $ratio <good.swo >wrong.swo
  for command in itm 'list --events' 'calls --interrupts' profile info; do
    code=0
    # shellcheck disable=SC2086
    "$pugmark" $command --protocol itm wrong.swo >out 2>said || code=$?
    cat out >>said
    says "$command at $ratio of the rate" 'check the baud rate' said
    [[ $code == 1 || $command == info ]] || { echo "$command at $ratio: exit $code"; exit 1; }
  done
done
"$pugmark" report --quiet --protocol itm wrong.swo -o page.html || true
part page.html >head
says 'a page of another rate' 'check the baud rate' head
! grep -q '"about": "checked"' head || { echo "something is green"; exit 1; }

# ---- another clock ----
for command in 'calls --interrupts' 'profile --interrupts' 'timeline --output out.pf' info 'report -o page.html'; do
  # shellcheck disable=SC2086
  "$pugmark" $command --protocol itm --clock 24000000 good.swo >said 2>&1 || true
  [[ $command == report* ]] && part page.html >>said
  says "$command, another clock" 'with --clock 24000000 SysTick comes 1500.00 times a second' said && true
done
for clock in 16000000 32000000; do
  "$pugmark" calls --interrupts --protocol itm --clock $clock good.swo >out 2>said
  ! grep -q 'no usual rate' said || { cat said; exit 1; }
done
# An interrupt that is not periodic says nothing of a clock.
write 'swo::sync; for my $n (1 .. 40) { swo::enter(15); swo::time(300); swo::leave(15); swo::time(1 + $n * 977 % 5000); swo::back(0); swo::time(2) }' >odd.swo
"$pugmark" calls --interrupts --protocol itm --clock 24000000 odd.swo >out 2>said
! grep -q 'no usual rate' said || { cat said; exit 1; }

# ---- noise between packets ----
perl -e 'local $/; my $all = <STDIN>; my $n = 0; $all =~ s/(\n)/++$n % 9 ? $1 : "$1\x04\x24\xf8"/ge; print $all' <good.swo >noisy.swo
for command in itm 'list --events' 'calls --interrupts' profile 'timeline --output out.pf' 'report -o page.html'; do
  # shellcheck disable=SC2086
  "$pugmark" $command --protocol itm noisy.swo >out 2>said || true
  says "$command, noise" 'bad packets between good ones: noise on the line' said
done
part page.html >head
says 'a page of noise' 'noise on the line' head
! grep -q '"about": "checked"' head || { echo "something is green"; exit 1; }
"$pugmark" itm --quiet --protocol itm noisy.swo >text || true
[[ $(grep -c "^line" text) -ge 12 ]] # what is good is there

# ---- the program of another build ----
if command -v clang >/dev/null && command -v ld.lld >/dev/null; then
  echo 'void f(void); int g(int n) { for (int i = 0; i < n; i++) f(); return n; } void f(void) { __asm__("mov.w r0, r1"); } void _start(void) { g(3); }' >p.c
  clang --target=thumbv7m-none-eabi -O1 -g -ffreestanding -nostdlib -fuse-ld=lld -Wl,-Ttext=0x08000100 -Wl,--image-base=0x07ff0000 -o p.elf p.c
  clang --target=thumbv7m-none-eabi -O1 -g -ffreestanding -nostdlib -fuse-ld=lld -Wl,-Ttext=0x08100000 -Wl,--image-base=0x07ff0000 -o far.elf p.c
  for command in profile info 'report -o page.html'; do
    # shellcheck disable=SC2086
    "$pugmark" $command --protocol itm --elf far.elf good.swo >said 2>&1 || true
    grep -qE '40 of 40 PC samples (lie in no program|are where the program has no code)' said || { echo "$command: a program elsewhere:"; cat said; exit 1; }
  done
  part page.html >head
  ! grep -q '"about": "checked"' head || { echo "something is green"; exit 1; }
fi
