#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A stream of which all is known (text on two ports, SysTick, nested interrupts, samples, a watched variable, a counter, an
# overflow) in each format: text, JSON lines, CSV, Perfetto read back through its protobuf, pprof, tables, and the report in a
# browser. The same counts, times and names everywhere.
#   swo_formats.sh BIN SOURCE
set -eu
bin=$1 source=$2
pugmark=$bin/pugmark
for tool in clang ld.lld nm; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool, so there is no program"; exit 77; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
want() { # NAME WANTED GOT
  [[ $2 == "$3" ]] || { printf '%s:\nwant %q\ngot  %q\n' "$1" "$2" "$3"; exit 1; }
}
says() { # NAME WORDS FILE
  grep -qF -- "$2" "$3" || { printf '%s: no %q in\n' "$1" "$2"; cat "$3"; exit 1; }
}
same() { # NAME WANTED GOT
  diff "$2" "$3" >differences || { echo "$1:"; head -20 differences; exit 1; }
}

cat >firmware.c <<'C'
volatile int speed;
volatile unsigned ticks;
__attribute__((noinline)) void set_speed(int value) { speed = value; }
__attribute__((noinline)) unsigned work(unsigned n) { for (unsigned i = 0; i < 9; i++) n = n * 31 + i; return n; }
void SysTick_Handler(void) { ticks++; }
void UART_IRQHandler(void) { ticks += 2; }
void Default_Handler(void) { for (;;) ; }
void Reset_Handler(void) { for (int i = 0;; i++) set_speed((int)work((unsigned)i)); }
__attribute__((section(".vectors"), used)) const void *vectors[] = {
    (void *)0x20001000, Reset_Handler, Default_Handler, Default_Handler, Default_Handler, Default_Handler,
    Default_Handler, 0, 0, 0, 0, Default_Handler, Default_Handler, 0, Default_Handler, SysTick_Handler,
    Default_Handler, UART_IRQHandler};
C
cat >firmware.ld <<'L'
SECTIONS {
  . = 0x08000000;
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) }
  . = 0x20000000;
  .bss : { *(.bss*) *(COMMON) }
  /DISCARD/ : { *(.ARM.exidx*) }
}
L
build() { clang --target=thumbv7m-none-eabi "$@" -g -ffreestanding -nostdlib -fuse-ld=lld -Wl,-T,firmware.ld -Wl,-e,Reset_Handler firmware.c; }
build -O1 -o firmware.elf

# What is written, and what that is: time, kind, name, value.
cat >make.pl <<'P'
use strict;
use warnings;
use swo;
my ($file, $beside) = @ARGV; # samples lie so many bytes beside the begin of an instruction
my ($now, $random, $cpi, @truth, @waiting, %at) = (0, 7, 0);
for (`nm firmware.elf`) { my ($address, undef, $name) = split; $at{$name} = hex($address) & ~1 }
sub random { $random = ($random * 1103515245 + 12345) & 0x7fffffff; return ($random >> 8) % $_[0] }
sub later { push @waiting, [@_]; return }
sub stamp { my ($cycles) = @_; swo::time($cycles); $now += $cycles; push @truth, map { [$now, @$_] } @waiting; @waiting = (); return }
sub handler {
    my ($number, $name, $inner) = @_;
    swo::enter($number); later('begin', $name, ''); stamp(20 + random(30));
    $inner->() if $inner;
    swo::leave($number); later('end', $name, ''); stamp(10 + random(50));
    return;
}
swo::sync; stamp(5);
for my $round (1 .. 60) {
    swo::text(0, "round $round\n"); later('text', 'port 0', "round $round"); stamp(100 + random(50));
    handler(15, 'SysTick_Handler', $round % 3 ? undef : sub { handler(17, 'UART_IRQHandler'); swo::back(15); stamp(3) });
    swo::back(0); stamp(2);
    my $where = (qw(work work set_speed), '')[$round % 4];
    if ($where) { swo::sample($at{$where} + ($beside // 0)) } else { swo::asleep() }
    later('sample', $where || 'asleep', ''); stamp(40);
    my $value = $round % 2 ? -$round : $round * 1000;
    swo::watch(0, $at{set_speed}, $at{speed} & 0xffff, 4, $value); later('value', 'speed', $value); stamp(random(400) + 1);
    if ($round % 5 == 0) { swo::dwt(0, 1, 1); later('counter', 'CPI cycles', $cpi += 256); stamp(9) }
    if ($round % 7 == 0) { swo::text(1, "b$round\n"); later('text', 'port 1', "b$round"); stamp(11) }
    if ($round == 30) { swo::overflow; later('loss', '', ''); swo::text(0, "on\n"); later('text', 'port 0', 'on'); stamp(5000) }
}
if ($file) { open my $out, '>', $file or die; print $out join("\t", @$_), "\n" for sort { $a->[0] <=> $b->[0] || "@$a" cmp "@$b" } @truth; close $out }
swo::done();
P
make() { perl -I"$source/tests/support" make.pl "$@"; }
make truth >all.swo
order() { perl -F'\t' -ane 'chomp @F; push @all, [@F]; END { print join("\t", @$_[0 .. 3]), "\n" for sort { $a->[0] <=> $b->[0] || "@$a" cmp "@$b" } @all }'; }
settings=(--quiet --protocol itm --elf firmware.elf --set DWT_COMP0=0x20000000)
pug() { local command=$1; shift; "$pugmark" "$command" "$@" "${settings[@]}" all.swo; }

# ---- text, JSON lines, CSV ----
pug list --events | perl -ne '
  chomp; s/^[ ~]+(\d+)  00  // or die; my $time = $1;
  if (/^(port \d): (.*)/) { print "$time\ttext\t$1\t$2\n" }
  elsif (/^(\w+) entered/) { print "$time\tbegin\t$1\t\n" }
  elsif (/^(\w+) exited/) { print "$time\tend\t$1\t\n" }
  elsif (/^PC sample 0x\w+ in (\w+)/) { print "$time\tsample\t$1\t\n" }
  elsif (/^PC sample: sleeping/) { print "$time\tsample\tasleep\t\n" }
  elsif (/^speed = (\S+) at firmware.c:3$/) { print "$time\tvalue\tspeed\t$1\n" }
  elsif (/^(CPI cycles): (\d+)/) { print "$time\tcounter\t$1\t$2\n" }
  elsif (/^trace was lost/) { print "$time\tloss\t\t\n" }
  elsif (!/returned to/) { die $_ }' | order >got
same text truth got
pug list --events --format jsonl | perl -MJSON::PP -ne '
  my $e = decode_json($_); my ($time, $kind, $name) = @$e{qw(time kind name)};
  if ($kind eq "port") { print "$time\ttext\t$name\t", $e->{words} =~ s/^port \d: //r, "\n" }
  elsif ($kind eq "exception") { print "$time\t", $1 eq "entered" ? "begin" : "end", "\t$name\t\n" if $e->{words} =~ /(entered|exited)$/ }
  elsif ($kind eq "pc sample") { print "$time\tsample\t", $name // "asleep", "\t\n" }
  elsif ($kind eq "data") { print "$time\tvalue\t$name\t$e->{value}\n"; die unless $e->{write} && $e->{type} eq "volatile int" }
  elsif ($kind eq "counter") { print "$time\tcounter\t$name\t$e->{value}\n" }
  elsif ($kind eq "loss") { print "$time\tloss\t\t\n" }
  else { die $_ }' | order >got
same 'JSON lines' truth got
pug list --events --format csv | perl -F, -ane '
  chomp @F; next if $. == 1; my ($time, $kind, $name, $value) = @F[0, 4, 5, 7];
  if ($kind eq "port") { print "$time\ttext\t$name\t", $F[9] =~ s/^port \d: //r, "\n" }
  elsif ($kind eq "exception") { print "$time\t", $1 eq "entered" ? "begin" : "end", "\t$name\t\n" if $F[9] =~ /(entered|exited)$/ }
  elsif ($kind eq "pc sample") { print "$time\tsample\t", $name || "asleep", "\t\n" }
  elsif ($kind eq "data") { print "$time\tvalue\t$name\t$value\n" }
  elsif ($kind eq "counter") { print "$time\tcounter\t$name\t$value\n" }
  elsif ($kind eq "loss") { print "$time\tloss\t\t\n" }
  else { die $_ }' | order >got
same CSV truth got

# ---- Perfetto ----
if command -v protoc >/dev/null; then
  pug timeline --format perfetto --output all.perfetto
  protoc -I"$source/tests/timeline" --decode=Trace perfetto.proto <all.perfetto >perfetto
  ! grep -qE '^ *[0-9]+:' perfetto || { echo "Perfetto: fields that the messages do not have"; exit 1; }
  perl -0777 -e '
    my ($text, %track, %name, %open, %of) = (<STDIN>);
    for my $packet ($text =~ /^packet \{\n(.*?)^\}/gms) {
      my ($sequence) = $packet =~ /trusted_packet_sequence_id: (\d+)/;
      if ($packet =~ /track_descriptor \{.*?uuid: (\d+).*?name: "([^"]*)"/s) { $track{$1} = $2; $of{$sequence} //= $1 }
      $name{$sequence}{$1} = $2 while $packet =~ /event_names \{\s*iid: (\d+)\s*name: "([^"]*)"/g;
      my ($time) = $packet =~ /^  timestamp: (\d+)/m;
      my ($event) = $packet =~ /^  track_event \{\n(.*?)^  \}/ms or next;
      my ($type) = $event =~ /^    type: (\w+)/m;
      my $on = $track{$event =~ /^    track_uuid: (\d+)/m ? $1 : $of{$sequence}};
      my $called = $event =~ /^    name_iid: (\d+)/m ? $name{$sequence}{$1} : $event =~ /^    name: "([^"]*)"/m ? $1 : "";
      my ($detail) = $event =~ /string_value: "([^"]*)"/;
      $detail //= "";
      if ($type eq "COUNTER") { my ($value) = $event =~ /counter_value: (-?\d+)/; print "$time\t", $on eq "speed" ? "value" : "counter", "\t$on\t$value\n" }
      elsif ($type eq "BEGIN") { push @{$open{$on}}, $called; print "$time\tbegin\t$called\t\n" if $called ne "trace was lost" }
      elsif ($type eq "END") {
        my $ended = pop @{$open{$on}};
        if ($ended ne "trace was lost") { print "$time\tend\t$ended\t\n" }
        elsif ($on =~ /interrupts$/) { print "$time\tloss\t\t\n" }
      }
      elsif ($on =~ /ITM (port \d)$/) { print "$time\ttext\t$1\t$detail\n" }
      elsif ($called eq "asleep") { print "$time\tsample\tasleep\t\n" }
      elsif ($detail =~ /^PC sample/) { print "$time\tsample\t$called\t\n" }
      elsif ($detail !~ /^speed = /) { die "$type $on $called $detail" }
    }' <perfetto | order >got
  same Perfetto truth got
else
  echo "skipped: Perfetto needs protoc"
fi

# ---- tables ----
perl -F'\t' -ane '
  my ($time, $kind, $name) = @F;
  if ($kind eq "begin") { push @open, [$name, $time]; $last = $gap{$name}{last}; $gap{$name}{last} = $time; $entries{$name}++ }
  if ($kind eq "end") { my $of = pop @open; push @{$took{$name}}, $time - $of->[1] }
  END { for my $name (sort keys %took) { my ($sum, @sorted) = (0, sort { $a <=> $b } @{$took{$name}}); $sum += $_ for @sorted;
        print join("\t", $name, $entries{$name}, $sorted[0], int($sum / @sorted), $sorted[-1], $sum), "\n" } }' <(perl -F'\t' -ane '
  print if $F[1] =~ /begin|end/' truth) >wanted
pug calls --interrupts --json | perl -MJSON::PP -ne '
  my $e = decode_json($_); print join("\t", @$e{"interrupt", "count", "shortest", "mean", "longest", "total"}), "\n"' | LC_ALL=C sort >got
same interrupts wanted got
for name in work set_speed; do
  count=$(awk -F'\t' -v name=$name '$2 == "sample" && $3 == name' truth | wc -l)
  want "samples of $name" "$count" "$(pug profile --json | perl -MJSON::PP -ne 'my $e = decode_json($_); print $e->{samples} // $e->{own} if ($e->{function} // "") eq "'$name'" && exists $e->{calls}')"
  want "folded, $name" "$name $count" "$(pug profile --format folded | grep "^$name ")"
  pug profile --format pprof | { gzip -dc 2>/dev/null || cat; } >pprof
  perl "$source/tests/support/read_pprof.pl" pprof >read
  says 'pprof' "function $name $count $count" read
done
says 'lines' "$(awk -F'\t' '$2 == "sample" && $3 == "work"' truth | wc -l)" <(pug profile --rows 0 | grep 'firmware.c:4')
says 'asleep' '60 PC samples, 25.0 % of them asleep' <(pug profile)


# Coverage of samples says in each form what it is of.
says 'coverage, text' '60 PC samples, 25.0 % of them asleep: samples, not counts of what ran: what was not sampled may have run' <(pug coverage 2>said)
says 'coverage, said' 'coverage is of counts of what ran, and these are PC samples' said
says 'coverage, JSON' '"samples": 45, "samples_asleep": 15' <(pug coverage --format json 2>/dev/null)
says 'coverage, HTML' 'what was not sampled may have run' <(pug coverage --format html 2>/dev/null)

# A sample in the middle of an instruction counts for that, and is told once.
make '' 2 >beside.swo
"$pugmark" profile --protocol itm --elf firmware.elf beside.swo >table 2>said
want 'told once' 1 "$(grep -c 'in the middle of an instruction' said)"
says 'in the middle' 'doubtful: 45 of 45 PC samples are in the middle of an instruction, which they are counted for: is it another build of the program?' said
says 'its line' firmware.c:3 table
says 'its function' set_speed table
"$pugmark" info --protocol itm --elf firmware.elf beside.swo >said
says 'in the middle, info' '45 of 45 PC samples are in the middle of an instruction: it is another build' said
! pug info | grep -q 'in the middle'
"$pugmark" profile --protocol itm --elf firmware.elf all.swo 2>&1 >/dev/null | grep -q 'in the middle' && exit 1
"$pugmark" profile --quiet --protocol itm --elf firmware.elf -o beside.prof beside.swo
"$pugmark" profile beside.prof 2>&1 >/dev/null | grep -q 'doubtful: 45 of 45 PC samples'

# ---- the report ----
pug report --source-dir . -o page.html
bash "$source/tests/report/unpack.sh" page.html | perl -MJSON::PP -e '
  my ($timeline) = grep { ref eq "HASH" && $_->{tracks} } map { ref eq "ARRAY" ? @$_ : () } map { decode_json($_) } <STDIN>;
  my ($names, $zero) = ($timeline->{names}, $timeline->{sums}{begin});
  for my $track (@{$timeline->{tracks}}) {
    for my $lane (@{$track->{lanes}}) {
      my $begin = -$zero; # starts are differences
      for (0 .. $#{$lane->{start}}) {
        $begin += $lane->{start}[$_];
        print "$begin\tbegin\t$names->[$lane->{name}[$_]]\t\n", $begin + $lane->{length}[$_], "\tend\t$names->[$lane->{name}[$_]]\t\n";
      }
    }
    for (@{$track->{gaps}}) { print $_->[1] - $zero, "\tloss\t\t\n" if $track->{name} =~ /interrupts$/ && $_->[2] eq "trace was lost" }
    for (@{$track->{instants}}) {
      my ($time, $name, $detail) = ($_->[0] - $zero, $names->[$_->[1]], $_->[4] // "");
      if ($track->{name} =~ /ITM (port \d)$/) { print "$time\ttext\t$1\t$detail\n" }
      elsif ($name eq "asleep") { print "$time\tsample\tasleep\t\n" }
      elsif ($detail =~ /^PC sample/) { print "$time\tsample\t$name\t\n" }
    }
    for (@{$track->{counters}}) {
      my $name = $names->[$_->[1]];
      print $_->[0] - $zero, $name eq "speed" ? "\tvalue\t" : "\tcounter\t", "$name\t$_->[4]\n";
    }
  }' | order >got
same report truth got

# What a person sees of it, and of a stream that has no samples.
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -n $browser ]] && command -v node >/dev/null; then
  perl -I"$source/tests/support" -Mswo -e 'swo::sync; swo::text(0, "x\n"); swo::time(5); swo::done()' >plain.swo
  "$pugmark" report --quiet --protocol itm plain.swo -o plain.html
  node "$source/tests/report/swo.mjs" "$browser" "$PWD/page.html" "$PWD/plain.html"
else
  echo "skipped: there is no browser, or no node"
fi
