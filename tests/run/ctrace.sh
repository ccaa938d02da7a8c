#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# ctrace.sh BIN DIR: trace folders of the CMSIS-Toolbox open as captures, set up as NAME.ctrace-run.yml says, and are listed
# in its columns; the example of real hardware in shared/swo/ctrace row for row.
set -eu
pugmark=$1/pugmark dir=$2 example=$2/../shared/swo/ctrace
"$pugmark" --version | head -n 1 | grep -q yaml || { echo "skipped: this build reads no YAML"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# refused WHAT WORDS ARGUMENT...
refused() {
  local what=$1 words=$2 code=0
  shift 2
  "$pugmark" "$@" >out 2>said || code=$?
  [ $code = 3 ] && grep -q -- "$words" said || { echo "$what: $code"; cat said; exit 1; }
}

own() {
  mkdir -p project/.trace
  cat >project/.trace/App+Board.ctrace-run.yml <<'YML'
ctrace-run:
  generated-by: a test
  unknown: {a: [1, 2], b: }
  ctrace-setup:
  - pname: M7
    disable:
    timestamps: {clock: 100000000, itm-prescaler: 4}
  - pname: M4
    timestamps:
  ctrace-refs:
  - ctrace-ref: M7/data#0
    pname: M7
    stream: 5
    regs:
    - name: DWT_COMP0
      value: 0x20000010
    - {value: 0x20000020, name: DWT_COMP3}
    - name: DWT_COMP4
      value: 1
    - name:
  - ctrace-ref: M4/timestamps
    pname: M4
    stream: 16
    regs:
    - name: ITM_TCR
      value: 0x200
      mask: 0x300
YML
  "$pugmark" record --quiet --script - --protocol dwt --out made <<'SCRIPT'
at 10
data 0 pc=0x8000010 value=7 written size=4
at 20
exception 15 entered
at 30
exception 15 exited
at 40
exception 0 returned
sample 0x8000020
at 50
sample sleeping
data 1 address=0x1234
at 60
counters 3
write 0 1 65
write 9 2 0xbeef
at 70
SCRIPT
  # Out of its frames, which have one id, it is what comes of a pin.
  perl -0777 -ne 'while (/(.{16})/gs) { my @b = unpack "C*", $1;
    for my $i (0 .. 14) { next if $i % 2 == 0 && $b[$i] & 1 && ++$id; $id && $i % 2 == 0 and $b[$i] |= $b[15] >> $i / 2 & 1;
      $all .= chr $b[$i] } } $all =~ s/\0+$//; print $all' made/trace.bin >project/.trace/App+Board.SWO.raw
  "$pugmark" list --format cmsis-csv --quiet project >rows
  diff rows - <<'ROWS'
cycles,stream,type,source,value,pc,offset,note
80,,dwt,0,0x00000007,0x08000010,,
120,,exception,15,0x1,,,
160,,exception,15,0x2,,,
200,,exception,0,0x3,,,
200,,pcsample,,,0x08000020,,
240,,pcsample,,,,,asleep
240,,dwt,1,,,1234,
280,,event,,0x03,,,
280,,itm,0,0x41,,,
280,,itm,9,0xbeef,,,
ROWS
  "$pugmark" list --format cmsis-csv --quiet --port 9 project/.trace/App+Board.ctrace-run.yml | grep ,itm, >rows
  [ "$(cat rows)" = 280,,itm,9,0xbeef,,, ]
  "$pugmark" info project >said
  grep -q 'count 4 cycles' said && grep -q 'comparator 0 watches 0x20000010' said && grep -q 'comparator 3 watches 0x20000020' said

  # A buffer in frames has the ITM of each processor by its id; memory of an MTB is that.
  cp made/trace.bin project/.trace/App+Board.TB.raw
  "$pugmark" info --buffer TB project >said
  grep -q 'source 0x10: ITM' said && grep -q 'count 16 cycles' said || { cat said; exit 1; }
  "$pugmark" list --format cmsis-csv --quiet --buffer TB project | grep ,itm, >rows
  [ "$(head -1 rows)" = 1120,16,itm,0,0x41,,, ]
  cp "$dir/fuzz/captures/mtb/trace.bin" project/.trace/App+Board.TB.raw
  "$pugmark" list --quiet --buffer TB --image "$dir/fuzz/captures/mtb/memory_0.bin@0" project >said
  grep -q 'SVCall' said

  # SWO of a pin with its formatter on: by its content, in frames alone or between synchronisation packets, or as the file
  # says it.
  mkdir -p framed
  sed 's/stream: 16/stream: 17/; s/stream: 5/stream: 16/' project/.trace/App+Board.ctrace-run.yml >framed/F.ctrace-run.yml
  cp made/trace.bin framed/F.SWO.raw
  "$pugmark" list --format cmsis-csv --quiet --port 9 framed >rows
  grep -q '^280,16,itm,9,0xbeef,,,$' rows && grep -q '^80,16,dwt,0,0x00000007,0x08000010,,$' rows || { cat rows; exit 1; }
  perl -0777 -ne 'print "\xff\xff\xff\x7f", $1 while /(.{16})/gs' made/trace.bin >framed/F.SWO.raw
  "$pugmark" list --format cmsis-csv --quiet --port 9 framed | diff - rows
  "$pugmark" itm --quiet framed >said
  [ "$(cat said)" = A ]
  cp project/.trace/App+Board.SWO.raw framed/F.SWO.raw
  "$pugmark" list --format cmsis-csv --quiet --port 9 framed | grep -q '^280,,itm,9,0xbeef,,,$'
  sed 's/^  generated-by.*/  trace-format: formatted/' framed/F.ctrace-run.yml >two && mv two framed/F.ctrace-run.yml
  cp made/trace.bin framed/F.SWO.raw
  "$pugmark" list --format cmsis-csv --quiet --port 9 framed | diff - rows
  sed 's/: formatted/: unformatted/' framed/F.ctrace-run.yml >two && mv two framed/F.ctrace-run.yml
  "$pugmark" info --quiet framed | grep -q 'one source, no framing'
  # Packets that could be frames of one id, too.
  perl -I"$dir/tests/support" -Mswo -e 'swo::sync; swo::text(1, "abc") for 1 .. 40; swo::done()' >framed/F.SWO.raw
  sed 's/^  trace-format.*//' framed/F.ctrace-run.yml >two && mv two framed/F.ctrace-run.yml
  "$pugmark" info --quiet framed | grep -q 'one source, no framing'

  cp made/trace.bin framed/F.TB_second.raw
  "$pugmark" list --format cmsis-csv --quiet --port 9 --buffer TB_second framed | diff - rows

  # What is none.
  mv framed/F.SWO.raw framed/F.ER.raw
  refused "events of software" 'records of the Event Recorder' list framed
  refused "events of software" 'records of the Event Recorder' list --buffer ER framed
  refused "no such channel" 'not the one that is asked for' list --buffer ER project
  cp project/.trace/App+Board.ctrace-run.yml project/.trace/Other.ctrace-run.yml
  refused "two of them" 'several captures in it, name one:' list project
  refused "without trace" 'no NAME.SWO.raw or NAME.TB.raw' list project/.trace/Other.ctrace-run.yml
  printf 'ctrace-run: [\n  a: }' >project/.trace/Other.ctrace-run.yml
  refused "no YAML" 'Other.ctrace-run.yml: line 2: ' list project/.trace/Other.ctrace-run.yml
  yes '[' | head -100 | tr -d '\n' >project/.trace/Other.ctrace-run.yml
  refused "levels without end" 'names or levels go too far' list project/.trace/Other.ctrace-run.yml
  refused "no ITM" 'no ITM in it' list --format cmsis-csv "$dir/examples/demo"
}
if [[ ${PUG_PART-} != shared ]]; then own; fi
[[ ${PUG_PART-} != own ]] || exit 0
if [[ ! -d $example ]]; then
  echo "skipped: no trace folder at $example"
  exit 77
fi
code=0
"$pugmark" list --format cmsis-csv "$example" >rows 2>said || code=$?
[ $code = 1 ] || { echo "the example: $code"; exit 1; }
mend() { awk -F, -v OFS=, '$3 == "error" { print $1, $2, $3; next } { print }' "$@"; } # notes are our own words
diff <(mend rows) <(mend "$example/Blinky+Arm.SWO.csv")
[ "$(grep -c ,dwt, rows)" = 528 ]

# Its other channel: a ring in frames, of both processors, which begins by a guess.
"$pugmark" list --format cmsis-csv --buffer TB "$example" 2>said | awk -F, '{ print $2, $3 }' | sort | uniq -c | awk '{ print $2, $3, $1 }' >rows
diff rows - <<'ROWS'
1 dwt 26
1 exception 165
1 pcsample 121
2 exception 84
2 pcsample 129
stream type 1
ROWS
