#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# convert.sh BIN DIR: bytes come back from what a logic analyser sees of a line, in each format and coding, the rate found
# out; with sigrok-cli on the machine from what that writes, and as it reads them. What is no such capture is refused.
set -eu
pugmark=$1/pugmark here=$2/tests/support
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
perl -e 'srand 5; print map { chr(rand() < .4 ? (0, 255, 0x80)[rand 3] : rand 256) } 1 .. 2500' >bytes
zip=$("$pugmark" --version | head -n 1 | grep -c zip || true)

# came WHAT FILE [OPTION...]: these are the bytes, and it is said what was found.
came() {
  local what=$1 file=$2
  shift 2
  "$pugmark" convert "$@" "$file" -o out 2>said || { echo "$what: failed"; cat said; exit 1; }
  cmp out bytes || { echo "$what: other bytes"; cat said; exit 1; }
}
for coding in uart manchester; do
  for rate in "2000000 24000000" "921600 24000000" "5500000 24000000" "115200 8000000"; do
    read -r bits hertz <<<"$rate"
    for format in vcd csv; do
      perl "$here/line_capture.pl" $format $coding "$bits" "$hertz" <bytes >"x.$format"
      came "$coding $rate $format" "x.$format"
      found=$(sed -nE 's/.* at ([0-9]+) bits.*/\1/p' said)
      ((found > bits * 99 / 100 && found < bits * 101 / 100)) || { echo "$coding $rate: $found"; exit 1; }
    done
  done
  came "$coding, all said" x.vcd --coding $coding --rate "$bits" --line SWO
  if [ "$zip" != 0 ]; then
    for parts in 1 3; do
      perl "$here/line_capture.pl" sr $coding 2000000 24000000 $parts <bytes >x.sr
      came "$coding .sr of $parts" x.sr --line SWO
    done
  fi
done

# A wrong rate: what the right one is.
perl "$here/line_capture.pl" csv uart 2000000 24000000 <bytes >x.csv
code=0
"$pugmark" convert --rate 1500000 x.csv 2>said >out || code=$?
[ $code = 1 ] && grep -qE 'the shortest pulses say (199|200)[0-9]{4} bits in a second' said || { echo "$code"; cat said; exit 1; }

# refused FILE WORDS [OPTION...]
refused() {
  local file=$1 words=$2 code=0
  shift 2
  "$pugmark" convert "$@" "$file" >out 2>said || code=$?
  [ $code = 3 ] && grep -q -- "$words" said || { echo "$file: $code"; cat said; exit 1; }
}
printf 'SWO,CLK\n1,0\n' >two.csv
refused two.csv 'several lines (--line chooses one): SWO CLK' --samplerate 1000
refused two.csv "no line 'SWD' in it; there are SWO CLK" --samplerate 1000 --line SWD
printf 'SWO\n1\n0\n' >rate.csv
refused rate.csv 'does not say its sample rate: --samplerate does'
printf 'SWO\n1\nx\n' >odd.csv
refused odd.csv 'sample 1 is neither 0 nor 1' --samplerate 1000
printf 'SWO\n1\n1\n' >still.csv
refused still.csv 'the line never changes' --samplerate 1000
head -c 300 /bin/sh >binary
refused binary 'no capture of a logic analyser'
: >empty
refused empty 'it is empty'
refused absent 'No such file'
printf '$var wire 1 ! SWO $end $enddefinitions $end #0 1! #5 0!' >scale.vcd
refused scale.vcd 'no $timescale'
printf '$timescale 1 ns $end $var wire 1 ! SWO $end' >cut.vcd
refused cut.vcd 'ends before $enddefinitions'
printf 'PK\003\004 and no zip' >bad.sr
refused bad.sr 'zip'

command -v sigrok-cli >/dev/null || { echo "without sigrok-cli, which is not here"; exit 0; }
sed -n '3,$p' x.csv >samples.csv
sigrok-cli -i samples.csv -I csv:samplerate=24000000:header=no:column_formats=l -O srzip -o made.sr 2>/dev/null
sigrok-cli -i made.sr -O vcd >made.vcd
sigrok-cli -i made.sr -O csv >made.csv
[ "$zip" = 0 ] || came "sigrok's .sr" made.sr
came "sigrok's VCD" made.vcd
came "sigrok's CSV" made.csv
sigrok-cli -i made.sr -P uart:baudrate=2000000:rx=0 -A uart=rx-data | sed 's/.*: //' >theirs
od -An -v -tx1 -w1 out | tr -d ' ' | tr a-f A-F >ours
diff ours theirs >/dev/null || { echo "sigrok-cli reads other bytes"; diff ours theirs | head; exit 1; }
