#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is shown when, and what goes wrong while a live input is read: silence, single bytes, a second Ctrl-C, and clients of `serve` that are too
# slow or too many.
#   live_faults.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
# shellcheck source=tests/support/live_peer.sh
. "$source/tests/support/live_peer.sh"
sync=000000000080 hi=01480169010a

# ---- single bytes, and seconds of silence (minutes by `make live-test`) inside of a packet: as of the file
swo=$source/examples/firmware/swo.bin silence=${PUG_LIVE_SILENCE:-2}
mapfile -t pieces < <(od -An -v -tx1 -w1 "$swo" | tr -d ' ')
half=$((${#pieces[@]} / 2))
for command in list itm; do
  play "${pieces[@]:0:half}" "sleep:$silence" "${pieces[@]:half}"
  timeout 900 "$pugmark" $command "tcp:127.0.0.1:$port" >out 2>said || fail "$command: $(cat said)"
  "$pugmark" $command --protocol itm "$swo" >again 2>/dev/null
  cmp -s out again || fail "$command, byte by byte: $(diff out again | head -n 3)"
done

# ---- what nothing can change is shown: an element of cycles or a time marker that follows the last atom, too
for what in ete-a64-cycles:ete:3744 ete-a64-cycles:ete:4992 etmv4-a64-cycles:etmv4i:18676; do
  IFS=: read -r name protocol cut <<<"$what"
  capture=$source/tests/captures/$name
  words=(--protocol "$protocol" --transport coresight --core ARM-AA64)
  while read -r register value; do words+=(--set "$register=$value"); done \
    < <(tr -d '\r' <"$capture/trace_0.ini" | sed -nE '/AUTHSTATUS/d; s/^(TRC[A-Z0-9]+)[^=]*=(.*)/\1 \2/p')
  words+=(--image "$capture/memory_0.bin@$(sed -n 's/^address=//p' "$capture/cpu_0.ini")")
  : >out
  head -c "$cut" "$capture/trace.bin" >part
  "$pugmark" list "${words[@]}" part 2>/dev/null | grep -v EO_TRACE >again
  play file:part "wait:$work/shown-$name-$cut"
  timeout 60 "$pugmark" list "${words[@]}" "tcp:127.0.0.1:$port" >out 2>said &
  reader=$!
  for _ in {1..200}; do [[ $(wc -l <out) -ge $(wc -l <again) ]] && break; sleep 0.05; done
  cmp -s out again || fail "$what: $(diff out again | head -n 3)"
  touch "shown-$name-$cut"
  wait $reader
done

# ---- Ctrl-C: once is the end of the file, also where nothing is read; twice is at once
perl -e 'print "\0\0\0\0\0\x80", join "", map { "\x03" . sprintf("%4d", $_ % 10000) . "\x01\n" } 1..300000' >much
mkfifo stuck
play file:much hold
"$pugmark" list "tcp:127.0.0.1:$port" >stuck 2>said &
reader=$!
exec 7<stuck # it is opened, and not read
sleep 1
kill -INT $reader
sleep 0.3
kill -0 $reader 2>/dev/null || fail "Ctrl-C: the end was not shown: $(cat said)"
kill -INT $reader
wait $reader
code=$?
exec 7<&-
[[ $code == 130 ]] || fail "Ctrl-C twice: $code"
rm -f out
play $sync $hi hold
"$pugmark" itm "tcp:127.0.0.1:$port" >out 2>said &
reader=$!
comes out
kill -INT $reader
wait $reader || fail "Ctrl-C: $?: $(cat said)"
[[ $(cat out) == Hi ]] || fail "Ctrl-C: $(cat out)"

# ---- serve: a client that does not read loses its own data, and gets to know how much; others lose nothing
cat >client.pl <<'PERL'
# client.pl PORT WAIT: what comes at a port, read from when the file WAIT is there.
use strict; use warnings; use IO::Socket::INET;
my ($port, $wait) = @ARGV;
my $s;
for (1..200) { $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) and last; select undef, undef, undef, 0.05 }
$| = 1;
sysread $s, my $first, 4096 or exit 1;
print $first;
for (1..1200) { last if -e $wait; select undef, undef, undef, 0.05 }
while (sysread $s, my $bytes, 65536) { print $bytes }
PERL
base=$(free_ports)
head -c 126006 much >piece # a quick client need not be very quick
play "wait:$work/joined" $sync "repeat:40:0.1:$work/piece" "touch:$work/sent" "wait:$work/told"
timeout 120 "$pugmark" serve --port "$base" --protocol itm "tcp:127.0.0.1:$port" >out 2>said &
server=$!
perl client.pl "$base" "$work/now" >slow.json &
slow=$!
perl client.pl "$base" . >quick.json &
quick=$!
comes slow.json && comes quick.json || fail "serve: no first line: $(cat said)"
touch joined
for _ in {1..1200}; do [[ -e sent ]] && break; sleep 0.05; done
sleep 1
touch now
comes slow.json '"lost"' || fail "serve: a slow client is not told"
touch told
wait $server || fail "serve: $(cat said)"
wait $slow $quick
lost=$(sed -n 's/^{"type":"lost","bytes":\([0-9]*\)}$/\1/p' slow.json | paste -sd+ | bc)
kept=$(grep -v '"type":"lost"' slow.json | wc -c)
[[ ${lost:-0} -gt 1000000 ]] || fail "serve: lost ${lost:-nothing}"
grep -q lost quick.json && fail "serve: a quick client lost something, too"
[[ $((lost + kept)) == $(wc -c <quick.json) ]] || fail "serve: $lost lost and $kept got are not $(wc -c <quick.json)"
perl -ne 'exit 1 unless /^\{.*\}$/' slow.json || fail "serve: a part of a line"

# ---- 32 clients; the next one is closed with one line; when one goes there is room again
base=$(free_ports)
play $sync $hi "wait:$work/enough"
timeout 120 "$pugmark" serve --port "$base" --protocol itm "tcp:127.0.0.1:$port" >out 2>said &
server=$!
perl -MIO::Socket::INET -e 'my ($base) = @ARGV; my @all;
  sub join_at { my $s; for (1..200) { $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift) and last; select undef, undef, undef, 0.05 } return $s }
  for (1..32) { my $s = join_at($base); sysread $s, my $got, 4096; $got =~ /"pugmark"/ or print "client $_: $got\n"; push @all, $s }
  for my $n (0, 1) { my $s = join_at($base + $n); local $/; my $got = <$s>; print $got }
  close pop @all; select undef, undef, undef, 0.5;
  my $s = join_at($base); sysread $s, my $got, 4096; print $got =~ /"pugmark"/ ? "again\n" : "no room: $got\n"' "$base" >clients
touch enough
wait $server || fail "serve: $(cat said)"
[[ $(cat clients) == '{"type":"error","text":"32 clients are connected already"}
pugmark: 32 clients are connected already
again' ]] || fail "serve: 33 clients: $(cat clients)"
exit $bad
