#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Threads of a real-time kernel in stock GDB: by name, each with its own place and call stack.
set -eu
bin=$1 source=$2
command -v gdb-multiarch >/dev/null || { echo "needs gdb-multiarch, which is not installed"; exit 77; }
command -v clang >/dev/null && command -v ld.lld >/dev/null && command -v qemu-system-arm >/dev/null ||
  { echo "needs clang, lld and qemu-system-arm, which are not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export HOME=$tmp
cd "$tmp"
clang --target=armv7m-none-eabi -mcpu=cortex-m3 -ffreestanding -O1 -g -finstrument-functions -c -o kernel.o \
  "$source/tests/rtos/kernel_freertos.c" 2>said || { echo "skipped: this clang makes nothing for Arm"; exit 77; }
ld.lld -static -n --defsym=CODE=0 --defsym=DATA=0x20000000 -T "$source/tests/truth/machine_m.ld" -e start -o kernel.elf kernel.o
"$bin/pugmark" record --quiet --data --limit 30000 --path path -- qemu-system-arm -M mps2-an385 -nic none -display none \
  -serial none -kernel kernel.elf 2>said || { cat said; exit 1; }
"$bin/pugmark" record --quiet --from path --data --protocol etmv3 --out data
"$bin/pugmark" record --quiet --from path --protocol etmv4 --out flow
for how in data flow; do
  name='\1'
  [[ $how == data ]] || name='(\1_thread)' # program flow alone knows no names but those of functions
  "$bin/pugmark" gdb --quiet --elf kernel.elf $how -- -nx -batch -ex 'info threads' -ex 'break beta_step' -ex continue -ex bt \
    -ex 'break gamma_work' -ex reverse-continue -ex continue -ex continue -ex 'pugmark goto #0' -ex 'tbreak alpha_step' -ex continue \
    -ex bt >said 2>&1
  for thread in alpha beta gamma; do
    grep -qF "\"$(sed "s/\(.*\)/$name/" <<<$thread)\"" said || { echo "$how: no thread $thread:"; cat said; exit 1; }
  done
  # Whatever stops in a thread's function is that thread, and so are its callers.
  perl -0ne '
    my $stops = 0;
    while (/^Thread \d+ "\(?(\w+?)(?:_thread)?\)?" hit (?:Temporary b|B)reakpoint \d+, (\w+?)_\w+ /mg) {
      die "thread $1 stops in $2\n$_" if $1 ne $2;
      $stops++;
    }
    die "only $stops stops:\n$_" if $stops < 3;
    /^#0  beta_step .*\n(?:#\d  .* beta_step .*\n)*#\d  .* beta_thread /m or die "no call stack of beta:\n$_";
  ' said || { echo "with $how"; exit 1; }
done
