#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Index files, captures of logic analysers and of many threads, of a megabyte, made so that reading them costs most: at most 512 MiB
# and 10 s of a processor, and a message where something is left out.
#   file_bombs.sh BIN SOURCE
set -u
bin=$1 source=$2 bad=0
[[ $bin == */release/* ]] || { echo "its bounds are of time and memory; sanitizers take both"; exit 77; }
command -v perl >/dev/null || { echo "skipped: needs perl"; exit 77; }
unset GLIBC_TUNABLES # limits are on memory
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
data=524288 seconds=10
wrong() { echo "$*"; bad=1; }
# bounded WHAT CODE WORDS COMMAND...: it ends with this code, and says these words.
bounded() {
    local what=$1 want=$2 words=$3
    shift 3
    (ulimit -d $data -t $seconds && exec timeout 300 "$bin/pugmark" "$@") >out 2>said
    local code=$?
    ((code == want)) || wrong "$what: exit $code within 512 MiB and $seconds s, not $want: $(tail -n 1 said)"
    [[ -z $words ]] || grep -q -- "$words" said || wrong "$what: not said: $words: $(tail -n 1 said)"
}

# ---- indexes: each of 13,000 summaries says that the last block has marks that it has not ----
itm=(--protocol ITM --transport plain)
perl -e 'print "\0\0\0\0\0\x80", "\x01\x41" x 499000' >itm.bin
"$bin/pugmark" index "${itm[@]}" --block 1024 itm.bin >out 2>said || wrong "no index: $(cat said)"
perl "$source/tests/support/index_bomb.pl" 13000 <itm.bin.pugindex >bomb || wrong "no index that is a bomb"
(($(stat -c %s bomb) > 700000 && $(stat -c %s bomb) <= 1000000)) || wrong "an index of $(stat -c %s bomb) bytes"
mv bomb itm.bin.pugindex
cp itm.bin.pugindex kept
bounded "summaries" 3 'the index is damaged' find "${itm[@]}" --event 5 itm.bin
bounded "summaries, backwards" 3 'the index is damaged' find "${itm[@]}" --event 5 --before 999000 itm.bin
cmp -s kept itm.bin.pugindex || wrong "find changed the index"

# ---- sessions of sigrok: a gigabyte of samples in a megabyte ----
if "$bin/pugmark" --version | head -n 1 | grep -q zip; then
    for line in idle edges; do
        perl "$source/tests/support/sigrok_bomb.pl" $line >$line.sr || wrong "no session"
        (($(stat -c %s $line.sr) > 900000 && $(stat -c %s $line.sr) <= 1100000)) || wrong "a session of $(stat -c %s $line.sr) bytes"
    done
    bounded "a line that is idle" 3 'the line never changes' convert idle.sr -o bytes
    bounded "a line that changes all the time" 3 'is damaged' convert edges.sr -o bytes
fi
# ---- check: a gap after each of 62,000 threads, which no rule names; and rules that count for each of them ----
crash=$source/examples/crash
address=$("$bin/pugmark" list --quiet "$crash" 2>/dev/null | sed -nE 's/.*exec range=0x([0-9a-f]+).*/\1/p' | head -n 1)
perl -e 'my $v = hex $ARGV[0]; my $to = pack "C8", $v >> 2 & 0x7f, $v >> 9 & 0x7f, map { $v >> 16 + 8 * $_ & 0xff } 0 .. 5;
    print "\0" x 11, "\x80\x01\x00", map { "\x04\x85" . $to . "\xb1" . pack("V", $_) . "\xf7" } 1 .. 62000' "$address" >threads.etm
etm=(--protocol etmv4i --transport plain --core ARMv8-A --set TRCIDR0=0x28000ea1 --set TRCIDR1=0x4100f421 --set TRCIDR2=0x488 --set TRCIDR8=0
    --set TRCCONFIGR=0xc1 --elf "$crash/crash" --expansion 1024)
bounded "threads" 0 '' check --rule 'no loss' "${etm[@]}" threads.etm
if "$bin/pugmark" --version | head -n 1 | grep -q '[( ]elf '; then
    bounded "rules for each thread" 0 '' check --rule 'number runs < 70000 times for each thread' "${etm[@]}" threads.etm
    bounded "percentiles of each thread" 2 'more threads than can be told apart' check --rule '_start instructions < 4 p99 for each thread' "${etm[@]}" threads.etm
fi
# ---- parameters: each is looked for by its name, and one that is unknown is compared with those that are known ----
head -c 20000 "$crash/crash" >noise.raw
perl -e 'print "a$_ = $_\n" for 1 .. 70000' >many.params
perl -e 'print "a$_ = $_\n" for 1 .. 4000' >some.params
bounded "70,000 parameters" 3 'too many parameters' list --protocol etrace --params many.params noise.raw
bounded "4,000 parameters" 1 'something is wrong' list --protocol etrace --params some.params noise.raw
# ---- tables of samples: many columns, many lines, the wanted one last ----
perl -e 'print "; Samplerate: 1 MHz\n"; print join(",", map { "c$_" } 1 .. 700), ",SWO\n";
    print join(",", ("0") x 700, $_ & 1), "\n" for 1 .. 700' >wide.csv
bounded "columns" 3 'too few to read it' convert wide.csv --line SWO -o bytes
perl -e 'print "; Samplerate: 1 MHz\nSWO\n", "1\n0\n" x 250000' >long.csv
bounded "samples" 3 'too few to read it\|bits in a second' convert long.csv -o bytes
perl -e 'print "\$timescale 1 ns \$end\n", map { "\$var wire 1 v$_ n$_ \$end\n" } 1 .. 30000; print "\$var wire 1 ! SWO \$end\n\$enddefinitions \$end\n#0 1!\n#18446744073709551614 0!\n#18446744073709551615 1!\n"' >lines.vcd
bounded "lines" 3 'bits in a second\|never changes' convert lines.vcd --line SWO -o bytes
exit $bad
