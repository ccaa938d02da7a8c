#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Live inputs: sockets, serial lines and presets are recognised, shown as they arrive, saved, reconnected, and
# given to other programs.
#   live_inputs.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
# shellcheck source=tests/support/live_peer.sh
. "$source/tests/support/live_peer.sh"

# text WORDS CODE SAID OPTION...: what `pugmark itm` prints, how it ends, and what it says.
text() {
  local wanted=$1 code=$2 said=$3 got
  shift 3
  got=$(timeout 60 "$pugmark" itm "$@" 2>said)
  [[ $? == "$code" ]] || fail "itm $*: not $code: $(cat said)"
  [[ $got == "$wanted" ]] || fail "itm $*: '$got', not '$wanted'"
  if [[ $said ]]; then grep -q -- "$said" said || fail "itm $*: nothing like '$said': $(cat said)"
  else [[ ! -s said ]] || fail "itm $*: $(cat said)"; fi
}

# ---- what it is, without an option
sync=000000000080 hi=01480169010a packet=020101010101098001480169010ac100
mark=2525'4f5242464c4f57312e302e30'2525
play $sync $hi
text Hi 0 '' "tcp:127.0.0.1:$port"
play 01 48 01 69 01 0a
text Hi 0 'not synchronised: text may begin wrongly' "tcp:localhost:$port"
play 01 48 01 69 01 0a
timeout 60 "$pugmark" list --format jsonl "tcp:127.0.0.1:$port" 2>said | grep -q '"guessed": true' || fail "a guess is not marked"
play 02 01 0101 0101098001480169010ac1 00
text Hi 0 '' "tcp:127.0.0.1:$port"
play $mark $packet
text Hi 0 '' "tcp:127.0.0.1:$port"
# Frames of a trace port: source 1, after a synchronisation.
play ffffff7f 0300000000008000 0048006900000000 0301480068010a00 0000000000000000 ffffff7f
timeout 60 "$pugmark" list "tcp:127.0.0.1:$port" >out 2>said || true
grep -q ' 01  ' out || fail "frames of a trace port: $(head -n 3 out said)"
play "$(printf 'PERFILE2' | od -An -tx1 | tr -d ' \n')" 00
text '' 3 'header' "tcp:127.0.0.1:$port"
printf '\x01H\x01i\x01\n' | text Hi 0 'not synchronised.*no synchronisation packet came yet' -
printf '\x01H\x01i\x01\n' | timeout 60 "$pugmark" itm --set guess_sync=0 - >out 2>said
[[ ! -s out ]] || fail "guess_sync=0: it begins without a synchronisation: $(cat out)"
# IPv6, a host to listen at, and the second port of a preset.
perl -MIO::Socket::IP -e '$s = IO::Socket::IP->new(LocalHost => "::1", LocalPort => 0, Listen => 1) or exit; open F, ">", "PORT6"; print F $s->sockport; close F; $c = $s->accept; syswrite $c, pack "H*", $ARGV[0]' $sync$hi 2>/dev/null &
jobs_of_test+=($!)
# A preset with a host has its second port, too.
perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => "127.0.0.7", LocalPort => 3443, Listen => 1, ReuseAddr => 1) or exit; open F, ">", "PORT7"; print F 1; close F; $c = $s->accept; syswrite $c, pack "H*", $ARGV[0]' $sync$hi 2>/dev/null &
jobs_of_test+=($!)
comes PORT7 && text Hi 0 '' orbuculum:127.0.0.7
if comes PORT6; then text Hi 0 '' "tcp:[::1]:$(cat PORT6)"; fi
printf '\0\0\0\0\0\x80\x01H\x01i\x01\n' | text Hi 0 '' -
: | text '' 3 'no byte came' -

# ---- nothing there, nothing said
text '' 3 'refused' tcp:127.0.0.1:1
text '' 3 'configure -output :3443' openocd:127.0.0.1:1
text '' 2 'expected tcp:HOST:PORT' tcp:nothing
text '' 2 'is for live inputs' --retry "$source/README.md"
play ''
text '' 3 'no byte came' "tcp:127.0.0.1:$port"
play ''
text '' 3 'no byte came' --protocol itm "tcp:127.0.0.1:$port"
touch pyocd
text '' 1 'taken for the file' pyocd

# ---- what is wrong in the first second
zeros=$(printf '00%.0s' {1..80})
play "$zeros"
timeout 60 "$pugmark" itm --protocol itm "tcp:127.0.0.1:$port" >out 2>said
grep -q 'only zeros' said || fail "zeros: $(cat said)"
play "${zeros//00/ff}"
timeout 60 "$pugmark" itm --protocol itm "tcp:127.0.0.1:$port" >out 2>said
grep -q 'only bytes 0xff' said || fail "0xff: $(cat said)"
frames=ffffff7f$(printf '0300000000000000000000000000%.0s0000ffffff7f' {1..6})
play "$frames"
timeout 60 "$pugmark" itm --protocol itm --transport plain "tcp:127.0.0.1:$port" >out 2>said
grep -q 'is it --transport coresight' said || fail "frames: $(cat said)"
play "$(printf "$sync$hi%.0s" {1..8})"
timeout 60 "$pugmark" itm --protocol itm --transport coresight "tcp:127.0.0.1:$port" >out 2>said
grep -q 'is it --transport plain' said || fail "no frames: $(cat said)"

play wait:never-there $sync
timeout 60 "$pugmark" itm --protocol itm --for 1500ms "jlink:127.0.0.1:$port" >out 2>said
[[ $? == 3 ]] && [[ $(grep -c 'SWO EnableTarget' said) == 2 ]] || fail "a silent server: $(cat said)"

# ---- other roads
perl peer.pl "unix:$work/socket" $sync $hi &
jobs_of_test+=($!)
for _ in {1..200}; do [[ -S socket ]] && break; sleep 0.05; done
text Hi 0 '' unix:socket
listening=$(free_port)
timeout 60 "$pugmark" itm "tcp-listen:$listening" >out 2>said &
listener=$!
perl -MIO::Socket::INET -e 'for (1..200) { $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]) and last; select undef, undef, undef, 0.05 }
  syswrite $s, pack "H*", $ARGV[1]' "$listening" "$sync$hi"
wait $listener || fail "tcp-listen: $(cat said)"
[[ $(cat out) == Hi ]] || fail "tcp-listen: $(cat out)"
# OpenOCD's notifications, in pieces that end anywhere; others are skipped.
play "$(printf 'type target_state state halted\r\n\x1atype target_tr' | od -An -v -tx1 | tr -d ' \n')" \
  "$(printf 'ace data %s\r\n\x1a\x1atype target_trace data %s\r\n\x1a' 0000000000 80${hi} | od -An -v -tx1 | tr -d ' \n')"
text Hi 0 '' "openocd-tcl:127.0.0.1:$port"

# ---- as it comes, and as of a file
play $sync $hi "wait:$work/seen" 0121 010a
{ timeout 60 "$pugmark" itm "tcp:127.0.0.1:$port" || touch failed; } >out 2>said &
reader=$!
comes out && touch seen
wait $reader
[[ -e seen && ! -e failed && $(head -n 1 out) == Hi ]] || fail "text comes late: $(cat out said)"
crash=$source/examples/crash registers=(--protocol etmv4i --transport coresight --elf "$crash/crash")
while read -r name value; do registers+=(--set "$name=$value"); done \
  < <(tr -d '\r' <"$crash/trace_0.ini" | sed -nE 's/^(TRCCONFIGR|TRCTRACEIDR|TRCIDR[0128])\(.*\)=(.*)/\1 \2/p')
pieces=$(od -An -v -tx1 -w16 "$crash/trace.bin" | tr -d ' ')
for what in list pc calls trace "stat --json"; do
  # shellcheck disable=SC2086  # words
  "$pugmark" $what "${registers[@]}" "$crash/trace.bin" >file.out 2>file.said
  code=$?
  # shellcheck disable=SC2086
  play $pieces
  # shellcheck disable=SC2086
  timeout 60 "$pugmark" $what "${registers[@]}" "tcp:127.0.0.1:$port" >out 2>said
  [[ $? == "$code" ]] || fail "$what: another exit code than $code"
  cmp -s <(sed -E 's/"seconds": [^,]*//' file.out) <(sed -E 's/"seconds": [^,]*//' out) || fail "$what: not as of the file"
done

# What ends it is looked for whatever the command makes of elements, and where ranges are counted, too.
for what in "stat --json" pc list; do
  play $pieces hold
  # shellcheck disable=SC2086
  timeout 60 "$pugmark" $what --until read_line "${registers[@]}" "tcp:127.0.0.1:$port" >out 2>said
  [[ $? -le 1 && -s out ]] || fail "$what --until: $(tail -n 2 said)"
done

# ---- gaps, saving, ends
play $sync $hi 4d -- $sync $hi
timeout 60 "$pugmark" list --retry=500ms --save saved "tcp:127.0.0.1:$port" >out 2>said
[[ $(grep -c 'ITM_SWIT' out) == 6 && $(grep -c 'init-decoder' out) == 2 ]] || fail "a peer that comes back: $(cat out said)"
grep -q 'went away' said || fail "nobody says that the peer went away"
[[ $(od -An -tx1 saved | tr -d ' \n') == $sync${hi}4d && $(od -An -tx1 saved.2 | tr -d ' \n') == $sync$hi ]] || fail "not saved as it came"
play $sync $hi
text Hi 0 'saving stopped' --save /dev/full "tcp:127.0.0.1:$port"
play $sync $hi hold
text Hi 0 '' --for 300ms "tcp:127.0.0.1:$port"
play $sync $hi 0e0f10 hold
text Hi 0 '' --until exception "tcp:127.0.0.1:$port"
for signal in INT TERM; do
  play $sync $hi hold
  "$pugmark" stat --json "tcp:127.0.0.1:$port" >out 2>said &
  reader=$!
  sleep 0.3
  for _ in {1..100}; do kill -0 $reader 2>/dev/null || break; kill -s $signal $reader 2>/dev/null; sleep 0.5; break; done
  wait $reader
  code=$?
  [[ $code == 0 || $code == 3 ]] || fail "SIG$signal: $code"
  [[ $code != 0 ]] || grep -q '"trace_bytes": 12' out || fail "SIG$signal: no totals: $(cat out said)"
done
# A thousand connections, one after the other.
listening=$(free_port)
timeout 100 "$pugmark" stat --json --retry --until 0x1234 --protocol itm "tcp-listen:$listening" >out 2>said &
reader=$!
perl -MIO::Socket::INET -e 'my ($port, $bytes, $last) = @ARGV;
  for my $n (1..1000) { my $s; for (1..400) { $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) and last; select undef, undef, undef, 0.02 }
    syswrite $s, pack "H*", $n < 1000 ? $bytes : $last; shutdown $s, 1; sysread $s, my $end, 1; close $s }' "$listening" "$sync$hi" "${sync}${hi}1734120000"
wait $reader || fail "a thousand connections: $(tail -n 2 said)"
grep -q '"ITMTRACE": 3001' out || fail "a thousand connections: $(cat out)"
head -c 1000000 /dev/urandom >garbage
play file:garbage
timeout 60 "$pugmark" stat "tcp:127.0.0.1:$port" >out 2>said
[[ $? == 0 || $? == 1 ]] && grep -q 'bytes of trace' out || fail "garbage: $(tail -n 2 said)"
play $sync $hi hold
timeout 60 "$pugmark" list --for 500ms "tcp:127.0.0.1:$port" 2>said | head -n 1 >out
[[ ! -s said ]] || fail "a closed standard output: $(cat said)"

# ---- serve, top, live
play $sync "wait:$work/connected" $hi 0e0f10 "wait:$work/heard"
base=$(free_ports)
timeout 60 "$pugmark" serve --port "$base" --protocol itm "tcp:127.0.0.1:$port" >out 2>said &
server=$!
readers=()
for n in 0 1 2 3; do
  perl -MIO::Socket::INET -e 'for (1..200) { $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0]) and last; select undef, undef, undef, 0.05 }
    syswrite $s, "reset\n"; $| = 1; open F, ">", "in$ARGV[1]"; while (sysread $s, $b, 4096) { print $b }' $((base + n)) $n >served$n &
  readers+=($!)
done
comes served0 || fail "serve: no first line: $(cat said)"
for n in 0 1 2 3; do for _ in {1..200}; do [[ -e in$n ]] && break; sleep 0.05; done; done
sleep 0.2
touch connected
comes served0 exception
touch heard
wait "${readers[@]}"
wait $server || fail "serve: $(cat said)"
head -n 1 served0 | grep -q '"pugmark": ".*"sources": \[{"id": 0, "protocol": "ITM"' || fail "serve: $(head -n 1 served0)"
grep -q '"type": "itm", "port": 0, "text": "' served0 || fail "serve: no text in JSON"
[[ $(cat served1) == Hi ]] || fail "serve: text $(cat served1)"
[[ $(od -An -tx1 served2 | tr -d ' \n') == *${hi}0e0f10 ]] || fail "serve: raw bytes $(od -An -tx1 served2)"
"$pugmark" list --protocol itm --transport orbflow --set assume_sync=1 served3 2>/dev/null | grep -q 'Data: 0x69' || fail "serve: ORBFLOW $(od -An -tx1 served3)"
perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $ARGV[0], Listen => 1, ReuseAddr => 1); print "there\n"; $| = 1; sleep 20' "$base" >taken &
jobs_of_test+=($!)
sleep 0.3
timeout 60 "$pugmark" serve --port "$base" tcp:127.0.0.1:1 >out 2>said
[[ $? == 3 ]] && grep -q "port $base" said || fail "serve: a port that is taken: $(cat said)"
play $sync $hi
timeout 60 "$pugmark" top --json "tcp:127.0.0.1:$port" 2>said | tail -n 1 >out
grep -q '"ports": \[{"port": 0, "bytes": 3, "line": "Hi"}\]' out || fail "top: $(cat out said)"
play file:"$crash/trace.bin" hold
timeout 60 "$pugmark" live --once --pause 200ms --last 5 "${registers[@]}" "tcp:127.0.0.1:$port" >out 2>said
"$pugmark" trace --last 5 "${registers[@]}" "$crash/trace.bin" >file.out 2>/dev/null
cmp -s out file.out || fail "live: not the end that trace shows: $(cat said; head -n 3 out)"

# Without program flow and an ITM's text: the last elements.
play ffffffffffffffffffff0f0f304141 1004f20e hold
timeout 60 "$pugmark" live --once --pause 200ms --last 2 --protocol stm "tcp:127.0.0.1:$port" >out 2>said
[[ $(wc -l <out) == 2 ]] && grep -q 'SWTRACE( (Ma:0x41; Ch:0x00) +Mrk' out || fail "live: an STM: $(cat out said)"

# ---- a real OpenOCD, which gives no trace without a probe: connection and end alone
if command -v openocd >/dev/null; then
  tcl=$(free_port)
  openocd -c "gdb_port disabled; telnet_port disabled; tcl_port $tcl; adapter driver dummy" -c init >openocd.said 2>&1 &
  jobs_of_test+=($!)
  comes openocd.said "port $tcl" || true
  text '' 3 'no byte came' --retry=5s --for 1s "openocd-tcl:127.0.0.1:$tcl"
fi
exit $bad
