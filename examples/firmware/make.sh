#!/bin/sh
# SPDX-License-Identifier: MIT
# make.sh PUGMARK: makes the firmware and its three captures again. Needs clang, lld, perl and
# qemu-system-arm. The times in etb.bin are the host's, so no two makings are the same.
#   etb.bin  CoreSight frames of the ETM, as a debugger saves an ETB
#   ram.bin  the first 4 KB of RAM, where the MTB wrote a ring of 1 KB at 0x38000800
#   swo.bin  bytes of the SWO pin: what swo.events says
set -eu
pugmark=$(readlink -f "${1:?usage: make.sh PUGMARK}")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
clang --target=armv8m.main-none-eabi -mcpu=cortex-m33 -mfloat-abi=soft -mcmse -O1 -g -gdwarf-4 -fno-inline -ffreestanding \
  -fdebug-compilation-dir=. -ffile-prefix-map="$PWD"=. -c -o "$work/firmware.o" firmware.c
ld.lld -n -static -T firmware.ld -e start -o firmware.elf "$work/firmware.o"
# The machine never ends by itself. Its fault handler may have run three times when trace stops.
timeout 5 "$pugmark" record --quiet --limit 100000 --path "$work/long" -- \
  qemu-system-arm -M mps2-an505 -nic none -display none -serial none -kernel firmware.elf >"$work/said" 2>&1 || true
"$pugmark" record --quiet --from "$work/long" --limit 3000 --protocol etmv4 --set return_stack=0 --set speculation=0 --out "$work/all"
fault=$(nm firmware.elf | sed -n 's/^\([0-9a-f]*\) . HardFault_Handler/\1/p')
fault=$(printf '%x' $((0x$fault & ~1)))
handler=$("$pugmark" pc --quiet "$work/all" | grep -n "$fault" | head -n 1 | cut -d: -f1)
limit=$((handler + 2))
"$pugmark" record --quiet --from "$work/long" --limit $limit --protocol etmv4 --set return_stack=0 --set speculation=0 \
  --times 20 --sync 400 --out "$work/etm"
"$pugmark" record --quiet --from "$work/long" --limit $limit --protocol mtb --out "$work/mtb"
cp "$work/etm/trace.bin" etb.bin
perl -e 'local $/; open F, "<:raw", $ARGV[0]; my $all = <F>; my $size = 1024;
  my $ring = "\0" x $size;
  for (my $at = 0; $at < length $all; $at += 8) { substr($ring, $at % $size, 8) = substr($all, $at, 8) }
  print "\0" x 2048, $ring, "\0" x 1024' "$work/mtb/trace.bin" >ram.bin
"$pugmark" record --quiet --script swo.events --protocol itm --out "$work/swo"
# Out of the CoreSight frames of the snapshot: 15 bytes of each frame are data or ids, byte 15 has their lowest bits.
perl -e 'local $/; open F, "<:raw", $ARGV[0]; my ($all, $id) = (scalar <F>, 0);
  for (my $at = 0; $at < length $all; $at += 16) {
    my @b = unpack "C16", substr $all, $at, 16;
    for my $n (0 .. 14) {
      my $low = $b[15] >> ($n >> 1) & 1;
      if ($n % 2) { print chr $b[$n] if $id && $b[$n] >= 0 }
      elsif ($b[$n] & 1) { my $new = $b[$n] >> 1; if ($low && $n < 14) { print chr $b[$n + 1] if $id; $b[$n + 1] = -1 } $id = $new }
      else { print chr($b[$n] | $low) if $id }
    }
  }' "$work/swo/trace.bin" >swo.bin
