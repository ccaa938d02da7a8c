#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What differs on a terminal: nothing binary goes there, lines are as wide as it is, long work says how far it is; and
# programs in place of their trace.
#   terminal.sh BIN SOURCE
set -eu
pugmark=$(readlink -f "$1")/pugmark source=$(readlink -f "$2") bad=0
demo=$source/examples/demo crash=$source/examples/crash
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work"
wrong() { echo "$*"; bad=1; }

# A program, or its source, is not its trace: which option it belongs to is said.
for command in info trace list stat profile itm calls; do
  code=0
  "$pugmark" $command "$crash/crash" >/dev/null 2>said || code=$?
  [[ $code == 2 && $(<said) == *"this is a program, an ELF file, and not its trace"*"--elf $crash/crash"* ]] || wrong "$command of a program: $code, $(<said)"
  "$pugmark" $command "$crash/crash.c" >/dev/null 2>said && wrong "$command of source text: done"
  grep -q 'this is source text, and not trace' said || wrong "$command of source text: $(<said)"
done

printf '<!DOCTYPE html>\n<html></html>\n' >page.html
for command in info trace; do
  "$pugmark" $command page.html >/dev/null 2>said && wrong "$command of a page: done"
  grep -q 'this is a page, and not trace: open it in a browser' said || wrong "$command of a page: $(<said)"
done

# Widths.
widest() { awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }'; }
for columns in 60 80 120; do
  width=$(COLUMNS=$columns "$pugmark" help | widest)
  ((width <= columns && width > columns - 15)) || wrong "COLUMNS=$columns: lines of $width"
done

command -v script >/dev/null && [[ $(uname) == Linux ]] || exit $bad
terminal() { script -qec "$1" /dev/null </dev/null | tr -d '\r'; }
for command in "report $demo" "coverage --format html $demo" "timeline $demo" "profile --format pprof $demo" "profile --format report $demo" "profile -o - $demo" "index -o - $demo" "record --path - --from $crash/path" \
  "encode -" "convert text.csv"; do
  said=$(terminal "'$pugmark' $command" || true)
  [[ $said == *"is not written to a terminal; -o FILE writes a file"* ]] || wrong "$command: $said"
done
[[ $(terminal "'$pugmark' report --quiet -o page $demo") == "" && -s page ]] || wrong "report -o on a terminal"
[[ $("$pugmark" report --quiet "$demo" | head -c 15) == "<!DOCTYPE html>" ]] || wrong "report into a pipe"

# Colours: on a terminal, and not where NO_COLOR or --color says otherwise.
export TERM=xterm PUGMARK_PAGER=cat
[[ $(terminal "'$pugmark' trace --last 3 --quiet $crash") == *$'\e['* ]] || wrong "no colours on a terminal"
[[ $(NO_COLOR=1 terminal "'$pugmark' trace --last 3 --quiet $crash") != *$'\e['* ]] || wrong "colours with NO_COLOR"
[[ $(terminal "'$pugmark' trace --color never --last 3 --quiet $crash") != *$'\e['* ]] || wrong "colours with --color never"
[[ $("$pugmark" trace --color always --last 3 --quiet "$crash") == *$'\e['* ]] || wrong "no colours with --color always"

# Progress: work that waits for its reader takes longer than a second.
for _ in {1..2000}; do cat "$demo/trace.bin"; done >long
said=$(terminal "'$pugmark' list --packets --jobs 1 --params '$demo/ETM_0.ini' --core Cortex-A53 --transport coresight long | (sleep 2.3; cat >/dev/null)")
[[ $said =~ [0-9]+\ %,\ [0-9.]+\ [kM]?B/s,\ [0-9]+\ (s|min|h)\ left ]] || wrong "no progress: $said"
said=$(terminal "'$pugmark' list --quiet --packets --jobs 1 --params '$demo/ETM_0.ini' --core Cortex-A53 --transport coresight long | (sleep 2.3; cat >/dev/null)")
[[ $said != *left* ]] || wrong "progress with --quiet: $said"
if command -v perl >/dev/null; then
  perl -e 'print "SWO\n1\n1\n"; print +("0\n" x 6 . "1\n" x 6) x 1_000_000' >line.csv # 24 MB
  # A pause makes it take longer than a second on any machine.
  said=$(terminal "'$pugmark' convert --samplerate 12000000 -o line.bin line.csv & sleep 0.05; kill -STOP \$!; sleep 1.5; kill -CONT \$!; wait" || true)
  [[ $said =~ [0-9]+\ %,\ [0-9.]+\ [kM]?B/s,\ [0-9]+\ (s|min)\ left ]] || wrong "convert: no progress: $said"
  said=$(terminal "head -n 9999 line.csv >short.csv; '$pugmark' convert --quiet --samplerate 12000000 -o line.bin short.csv" || true)
  [[ $said == "" || $said == *warning* ]] || wrong "convert --quiet: $said"
fi
# A path that is being written has no known end, but a rate; with --limit it has both.
if command -v perl >/dev/null; then
  mkfifo path
  for limit in "" "--limit 20000000"; do
    perl -e 'sub leb { my ($n, $bytes) = (shift, ""); do { my $low = $n & 127; $n >>= 7; $bytes .= chr($low | ($n ? 128 : 0)) } while $n; $bytes }
      $| = 1;
      my $loop = leb(1) . leb(1) . leb(8_000_000); # block 0 runs, again, and 4,000,000 times more
      my $ran = "E" . leb(0) . leb(0) . leb(length $loop) . $loop;
      print "pugpath\2", leb(1), leb(0), leb(77), "B", leb(0), leb(0x400000), leb(4), pack("V", 0x14000000), $ran;
      sleep 2;
      print $ran, "Z"' >path &
    said=$(terminal "'$pugmark' record --protocol etmv4 --force --out run $limit --from path" || true)
    wait
    if [[ $limit ]]; then
      [[ $said =~ [0-9]+\ %,\ [0-9.]+\ million\ instructions/s,\ [0-9]+\ s\ left ]] || wrong "record $limit: no progress: $said"
    else
      [[ $said =~ [0-9.]+\ million\ instructions/s,\ [0-9]+\ million\ instructions ]] || wrong "record: no progress: $said"
    fi
  done
fi
exit $bad
