#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What others' encoders made of a path and what ours make of it decode to the same elements: ranges,
# exceptions. Ranges that end only because a packet does are put together.
# E-Trace's paths come as Spike's logs, which tell traps and where execution came back to.
set -eu
bin=$1 source=$2
vectors=$source/../shared/vectors
[[ -d $vectors/etrace && -d $vectors/ntrace ]] || { echo "the shared vectors are not here"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
compared=0

# Ranges and exceptions of a listing.
elements() {
  perl -ne '
    sub give { print "$from $to $how\n" if defined $from; undef $from; }
    if (/INSTR_RANGE\(exec range=0x(\w+):\[0x(\w+)\].*\(ISA=\w+\) (.*)\)$/) {
      my ($start, $end, $what) = ($1, $2, $3);
      give() unless defined $from && $how =~ /^E ---/ && $to eq $start;
      ($from, $to, $how) = (defined $from ? $from : $start, $end, $what);
    } elsif (/EXCEPTION\(/) { give(); print "exception\n"; }
    END { give(); }'
}

# log FOLDER: the path as Spike would tell it, of a list of addresses, the traps among them, and the code
log() {
  xz -dc "$1/base.events.xz" >events
  xz -dc "$1/pcs.txt.xz" | perl -e '
    my ($rom, $elf) = @ARGV;
    sub slurp { open my $in, "<:raw", $_[0] or die "$_[0]: $!"; local $/; <$in> }
    my $file = slurp($elf);
    my @loads = ([0x1000, slurp($rom)]);
    my $wide = vec($file, 4, 8) == 2;
    my ($at, $size, $count) = unpack $wide ? "x32 Q< x14 S< S<" : "x28 L< x10 S< S<", $file;
    for my $n (0 .. $count - 1) {
      my $head = substr $file, $at + $n * $size, $size;
      my ($offset, $address, $length) = unpack $wide ? "x8 Q< Q< x8 Q<" : "x4 L< L< x4 L<", $head;
      push @loads, [$address, substr $file, $offset, $length] if unpack("L<", $head) == 1;
    }
    open my $events, "<", "events" or die;
    my %traps;
    while (<$events>) {
      push @{$traps{$1}}, [$2, $3] if /^(\d+) TRAP (\w+) .*epc=([0-9a-f?]+)/;
    }
    my ($n, $last) = (0, 0);
    while (<STDIN>) {
      my $pc = hex;
      for (@{$traps{$n}}) {
        my $epc = $_->[1] eq "?" ? sprintf "%x", $last : $_->[1];
        printf "core   0: exception %s, epc 0x%s\n", $_->[0] eq "int" ? "interrupt #7" : "trap", $epc;
      }
      my ($load) = grep { $pc >= $_->[0] && $pc < $_->[0] + length $_->[1] } @loads or die "no code at $_";
      my $half = unpack "S<", substr $load->[1], $pc - $load->[0], 2;
      my $short = ($half & 3) != 3;
      my $code = $short ? $half : unpack "L<", substr $load->[1], $pc - $load->[0], 4;
      printf "core   0: 3 0x%0*x (0x%0*x)\n", $wide ? 16 : 8, $pc, $short ? 4 : 8, $code;
      $last = $pc + ($short ? 2 : 4);
      $n++;
    }' "$1/bootrom.bin" "$1/program.elf"
}

# same NAME PROTOCOL OPTIONS...: our trace of a path has the elements of theirs
same() {
  local name=$1
  "$bin/pugmark" record --quiet --protocol "$2" --out ours "${@:3}"
  "$bin/pugmark" list ours | elements >ours.elements
  # The path ends where no next instruction shows that there was a trap.
  [[ $(tail -n 1 theirs.elements) != exception ]] || sed -i '$d' theirs.elements
  diff theirs.elements ours.elements >differ || { echo "$name $*: other elements:"; head -5 differ; exit 1; }
  compared=$((compared + $(wc -l <ours.elements)))
}

for folder in "$vectors"/ntrace/ref-*; do
  elf=("$folder"/*.elf)
  [[ -e $folder/htm.nex && -e ${elf[0]} ]] || continue
  xz -dc "$folder/pcs.txt.xz" >pcs
  case $(od -An -tu1 -j4 -N1 "${elf[0]}" | tr -d ' ') in 1) xlen=32 ;; *) xlen=64 ;; esac
  for way in htm btm; do
    "$bin/pugmark" list --protocol ntrace --set xlen=$xlen --elf "${elf[0]}" "$folder/$way.nex" | elements >theirs.elements
    same "$(basename "$folder")" ntrace --from pcs --elf "${elf[0]}" --set btm=$([[ $way == btm ]] && echo 1 || echo 0)
  done
done

turn=0
for folder in "$vectors"/etrace/*; do
  [[ -e $folder/base.te ]] || continue
  log "$folder" >log
  "$bin/pugmark" list --protocol etrace --params "$folder/base.params" --image "$folder/bootrom.bin@0x1000" \
    --elf "$folder/program.elf" "$folder/base.te" | elements >theirs.elements
  mapfile -t zcmt < <(sed -n 's/^\(zcmt\|jvt_base\) = /--set=\1=/p' "$folder/base.params")
  random=() # of every second one what is free for an encoder is chance
  (((turn += 1) % 2)) || random=(--random 3)
  same "$(basename "$folder")" etrace --from log "${zcmt[@]}" "${random[@]}"
done
echo "$compared elements are the same"
[[ $compared -gt 100000 ]]
