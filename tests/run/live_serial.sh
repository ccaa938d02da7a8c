#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Serial lines: pseudo terminals of this test, of socat and of ser2net. Their rate is set and restored; at a wrong rate the
# right one is named.
#   live_serial.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
# shellcheck source=tests/support/live_peer.sh
. "$source/tests/support/live_peer.sh"
command -v python3 >/dev/null && [[ -d /proc/self/fd ]] || { echo "no python3 or no /proc: skipped"; exit 77; }

sync=000000000080 hi=01480169010a
# line PIECE...: a pseudo terminal in the background, whose name is in $line.
line() {
  rm -f LINE state
  python3 "$source/tests/support/serial_peer.py" LINE state "$@" &
  jobs_of_test+=($!)
  comes LINE || { echo "no pseudo terminal"; exit 1; }
  line=$(cat LINE)
}

for rate in 921600 1234567 12000000; do
  line open $sync $hi
  timeout 60 "$pugmark" itm --for 1s "serial:$line@$rate" >out 2>said || fail "at $rate: $(cat said)"
  [[ $(cat out) == Hi ]] || fail "at $rate: $(cat out said)"
  comes state
  [[ $(cat state) == "$rate 8N1 restored" ]] || fail "at $rate: the line was $(cat state)"
done
# One byte at a time, with pauses: shown as it comes, and the same in the end.
line open "each:$sync$hi" sleep:0.3 "each:0121010a" close
timeout 60 "$pugmark" list "serial:$line" >out 2>said || fail "one byte at a time: $(cat said)"
[[ $(grep -c ITM_SWIT out) == 5 ]] || fail "one byte at a time: $(cat out said)"

# ---- a wrong rate
wrong() {
  local sent=$1 read=$2 form=$3 said=$4
  line open "text:$sent:$read:$form" close
  timeout 60 "$pugmark" itm "serial:$line@$read" >out 2>said
  grep -q -- "$said" said || fail "$sent read at $read, $form: $(head -n 3 said)"
}
wrong 1500000 2000000 00 '@1500000?'
wrong 2000000 1000000 parmrk '@2000000?'
wrong 921600 1152000 parmrk '@921600?'
wrong 2000000 2250000 00 'is its rate (serial:DEVICE@BAUD) that of the SWO pin'
line open "text:1000000:1000000:00" close
timeout 60 "$pugmark" itm "serial:$line@1000000" >out 2>said || fail "at the right rate: $(head -n 3 said)"
[[ ! -s said ]] && grep -q 'valve 3 opens' out || fail "at the right rate: $(cat said)"

# ---- other people's lines
if command -v socat >/dev/null; then
  play "wait:$work/listens" $sync $hi "wait:$work/read"
  socat "PTY,link=$work/line,raw,echo=0" "TCP:127.0.0.1:$port" 2>/dev/null &
  jobs_of_test+=($!)
  for _ in {1..200}; do [[ -e line ]] && break; sleep 0.05; done
  timeout 60 "$pugmark" itm "serial:$work/line@2250000" >out 2>said &
  reader=$!
  touch listens
  comes out && touch read
  wait $reader || fail "socat: $(cat said)"
  [[ $(cat out) == Hi ]] || fail "socat: $(cat out said)"
fi
if command -v ser2net >/dev/null; then
  line open $sync $hi sleep:0.3 close
  served=$(free_port)
  cat >ser2net.yaml <<YAML
connection: &trace
  accepter: tcp,localhost,$served
  connector: serialdev,$line,115200n81,local
YAML
  ser2net -n -c ser2net.yaml >ser2net.said 2>&1 &
  jobs_of_test+=($!)
  timeout 60 "$pugmark" itm --retry=5s --for 3s "tcp:localhost:$served" >out 2>said || fail "ser2net: $(cat said ser2net.said)"
  [[ $(cat out) == Hi ]] || fail "ser2net: $(cat out said ser2net.said)"
fi
exit $bad
