#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The time of one event of an ITM, as every command has it: `list --events`, `list --by-time`, `itm --timestamps`,
# `timeline`, `find --time`, `trace --from-time`, `calls --by-time` and the report agree to the tick, whatever clocks are known;
# and sources side by side are in the order of their times.
#   swo_times.sh BIN SOURCE
set -eu
bin=$1 source=$2
pugmark=$bin/pugmark
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
want() { # NAME WANTED GOT
  [[ $2 == "$3" ]] || { printf '%s:\nwant %q\ngot  %q\n' "$1" "$2" "$3"; exit 1; }
}
says() { # NAME WORDS FILE
  grep -qF -- "$2" "$3" || { printf '%s: no %q in\n' "$1" "$2"; cat "$3"; exit 1; }
}
write() { perl -I"$source/tests/support" -Mswo -e "$1; swo::done()"; }
itm() { local command=$1; shift; "$pugmark" "$command" --quiet --protocol itm "$@"; }

# The event: a handler begins and writes a line, before one timestamp. The packet of that timestamp is what `find` finds.
write 'swo::sync; swo::text(0, "first\n"); swo::time(100); swo::text(0, "more\n"); swo::time(210); swo::global(1000500); swo::time(40);
  swo::enter(17); swo::text(1, "here\n"); swo::time(50); swo::leave(17); swo::time(60); swo::global(1001000);
  swo::text(0, "last\n"); swo::time(20); swo::global(1002000)' >global.swo
write 'swo::sync; swo::text(0, "first\n"); swo::time(100); swo::text(0, "more\n"); swo::time(250);
  swo::enter(17); swo::text(1, "here\n"); swo::time(50); swo::leave(17); swo::time(60); swo::text(0, "last\n"); swo::time(20)' >local.swo

# seven NAME FILE TICKS TIME OFFSET OPTION...: TIME in the unit of the capture (cycles, ticks or ns), TICKS of its clock.
seven() {
  local name=$1 file=$2 ticks=$3 time=$4 offset=$5 us=$4 seconds
  shift 5
  seconds="[$(printf %14s "$time")]"
  if [[ $* == *clock* ]]; then
    us=$(printf %d.%03d $((time / 1000)) $((time % 1000)))
    seconds="[$(printf %7d.%06d $((time / 1000000000)) $((time % 1000000000 / 1000)))]"
  fi
  want "$name, events" "$time" "$(itm list --events --match 'IRQ1 entered' --format jsonl "$@" "$file" | grep -o '"time": [0-9]*' | cut -c9-)"
  want "$name, by time" "$ticks" "$(itm list --by-time "$@" "$file" | awk '/IRQ1 entered/ { sub(/^</, "", $1); print $1 }')"
  want "$name, itm" "$seconds here" "$(itm itm --port 1 --timestamps "$@" "$file")"
  itm timeline --format chrome "$@" "$file" >timeline
  says "$name, timeline" '"ts": '"$us"', "s": "t", "args": {"detail": "here"}' timeline
  want "$name, timeline" "$us" "$(perl -ne 'print $1 if /"ph": "B", "name": "IRQ1".*"ts": ([0-9.]+)/' timeline)"
  want "$name, calls" "$ticks" "$(itm calls --by-time "$@" "$file" | awk '/IRQ1. [{]/ { print $3 }')"
  for at in "$time" $((time - 1)); do
    want "$name, find at $at" "$offset" "$(itm find --time "$(moment "$at" "$@")" "$@" "$file" | awk '{ print $1 }')"
  done
  [[ $(itm find --time "$(moment $((time + 1)) "$@")" "$@" "$file" | awk '{ print $1 }') -gt $offset ]]
  itm trace --from-time "$(moment "$time" "$@")" "$@" "$file" | sed -n 2p >traced
  grep -qE '^-- at [0-9]+ (cycles|ticks)' traced
  itm report "$@" "$file" >page.html
  bash "$source/tests/report/unpack.sh" page.html | perl -MJSON::PP -e '
    my ($timeline) = grep { ref eq "HASH" && $_->{tracks} } map { ref eq "ARRAY" ? @$_ : () } map { decode_json($_) } <STDIN>;
    my ($names, $zero) = ($timeline->{names}, $timeline->{sums}{begin});
    for my $track (@{$timeline->{tracks}}) {
      for my $lane (@{$track->{lanes}}) {
        my $start = -$zero; # starts are differences
        for (0 .. $#{$lane->{start}}) {
          $start += $lane->{start}[$_];
          print "handler $start\n" if $names->[$lane->{name}[$_]] eq "IRQ1";
        }
      }
      $_->[4] eq "here" and print "text ", $_->[0] - $zero, "\n" for @{$track->{instants}};
    }' >reported
  says "$name, report" "handler $time" reported
  says "$name, report" "text $time" reported
}
# The same as --time takes it: seconds where a rate is known.
moment() {
  local at=$1
  shift
  if [[ $* == *clock* ]]; then
    printf '%d.%09d\n' $((at / 1000000000)) $((at % 1000000000))
  else
    echo "$at"
  fi
}
after_here=$(itm list --packets local.swo | awk '/0x0a/ && /0x01/ { seen = 1 } /TS_LOCAL/ && seen { print $1; exit }')
seven 'local times alone' local.swo 400 400 "$after_here"
seven 'a rate' local.swo 400 400000 "$after_here" --clock 1000000
seven 'a rate that does not divide' local.swo 400 57142 "$after_here" --clock 7000000
seven prescaled local.swo 1600 1600 "$after_here" --set ITMTCR=0x110
seven 'lost cycles' local.swo 403 403 "$after_here" --set timestamp_loss=1
after_here=$(itm list --packets global.swo | awk '/0x0a/ && /0x01/ { seen = 1 } /TS_LOCAL/ && seen { print $1; exit }')
second=$(itm list --packets global.swo | awk '/GTS_2/ { if (++n == 2) print $1 }')
seven 'global times' global.swo 1001000 1001000 "$second"
seven 'the global rate' global.swo 1001000 10010000000 "$second" --global-clock 100000
seven 'the local rate' global.swo 400 400000 "$after_here" --clock 1000000
seven 'both rates' global.swo 1000545 10005450000 "$after_here" --clock 200000 --global-clock 100000

# Two sources in the frames of one buffer: each counts from its own beginning, and that is said.
write 'swo::sync; swo::text(0, "a\n"); swo::time(100); swo::enter(15); swo::time(200); swo::leave(15); swo::time(40); swo::frames(1)' >two.swo
write 'swo::sync; swo::time(30); swo::enter(17); swo::time(120); swo::leave(17); swo::time(100); swo::frames(2)' >>two.swo
"$pugmark" calls --by-time --protocol itm --transport coresight two.swo >table 2>said
want 'two cores' $'02 150 [IRQ1]\n02 250 100\n01 300 [SysTick]\n01 340 40' \
  "$(awk '/SysTick|IRQ1|}/ { print $2, $3, $4 }' table | sed 's/ [{}]$//')"
want 'their unit' 2 "$(grep -cF '[times are in cycles]' table)"
says 'clocks of their own' 'count a clock of their own' said
want 'two cores, elements' 0 "$(itm list --by-time --transport coresight two.swo | awk '{ gsub(/[<>]/, "", $1); if ($1 + 0 < last) back++; last = $1 + 0 } END { print back + 0 }')"
want 'all are dated' 0 "$(itm list --by-time --transport coresight two.swo | grep -c '^ *? ' || true)"

# Beside an ETM with times of the clock of all: by global timestamps, by both; local ones alone say nothing of the ETM's.
cp -r "$source/tests/captures/etmv4-arm-times" both
chmod -R u+w both
cp both/trace.bin etm.bin
printf '[device]\nname=itm_0\nclass=trace_source\ntype=ITM\n[regs]\nITMTCR=0x00210001\n' >both/itm.ini
sed -i 's/^device1=.*/&\ndevice2=itm.ini/' both/snapshot.ini
sed -i 's/^trace_0=buffer_0/&\nitm_0=buffer_0/' both/trace.ini
beside() { { cat etm.bin; write "swo::sync; $1; swo::frames(0x21)"; } >both/trace.bin; }
# Is the handler's line among those of the ETM where its time says so?
between() {
  "$pugmark" calls --by-time "$@" both 2>said >table
  perl -ne '/^  buffer_0 (..) +(\d+)/ or next; die "$.: back from $last to $2" if $last > $2; $last = $2; $before ||= $1 eq "10"; $handler = $. if /SysTick/ && $before;
    $after ||= $handler && $1 eq "10"; END { die "not between the lines of the ETM" unless $handler && $after }' table
}
beside 'swo::time(10); swo::global(5080000); swo::time(20); swo::enter(15); swo::time(40); swo::global(5080100); swo::leave(15); swo::time(30); swo::global(5080200)'
between
says 'beside an ETM' '5080100                            [SysTick] {' table
between --clock 2000000 --global-clock 1000000
says 'beside an ETM, both rates' '5080030                            [SysTick] {' table
# The same beside an ETMv3.
cp -r "$source/tests/captures/etmv3-arm" both3
chmod -R u+w both3
cp both/itm.ini both3/itm.ini
sed -i 's/^device1=.*/&\ndevice2=itm.ini/' both3/snapshot.ini
sed -i 's/^trace_0=buffer_0/&\nitm_0=buffer_0/' both3/trace.ini
write 'swo::sync; swo::global(0xabb910); swo::enter(15); swo::text(0, "here\n"); swo::time(40); swo::global(0xabbb00); swo::leave(15); swo::global(0xabbcb0);
  swo::frames(0x21)' >>both3/trace.bin
"$pugmark" list --quiet --by-time both3 | awk '
  / 10 .*TIMESTAMP.*ABB90B/ || / 10 .*TS=0x000000abb90b/ { before = NR } / 21 .*SysTick entered/ { at = NR; time = $1 } / 10 .*TS=0x000000abbcba/ { after = NR }
  END { exit !(before && before < at && at < after && time == "<11254528") }' || { echo "beside an ETMv3: another order"; exit 1; }
"$pugmark" timeline --quiet --format chrome both3 >timeline
says 'text beside an ETMv3' '"ts": 11254528, "s": "t", "args": {"detail": "here"}' timeline

beside 'swo::time(10); swo::enter(15); swo::time(40); swo::leave(15); swo::time(30)'
"$pugmark" list --by-time both >listed 2>said
says 'local times beside an ETM' 'local timestamps alone, which count a clock of its own' said
want 'no made-up time' '?' "$(awk '/SysTick entered/ { print $1 }' listed)"
want 'alone they are times' 50 "$("$pugmark" list --quiet --by-time --source 0x21 both | awk '/SysTick entered/ { print $1 }')"
