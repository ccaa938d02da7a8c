#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Strings of inputs steer no terminal: every command, over captures whose strings all hold control characters, as bytes and as
# UTF-8. What is put out is UTF-8 without any but line ends and tabs.
set -u
bin=$1 source=$2 bad=0
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
wrong() { echo "$*"; bad=1; }

# ---- captures ----
# Replaces words by as many bytes: ESC, BEL, CR, backspace, DEL, and C1 as a byte and as UTF-8.
cat >spoil.pl <<'EOP'
local $/;
my ($file, @words) = @ARGV;
open my $in, "<", $file or die; binmode $in; my $bytes = <$in>; close $in;
my @bad = ("\e[31m", "\a\e]0", "\xc2\x9b2J", "\x9b31m\x7f", "\b\x01\e");
for my $word (@words) { # the same in all files
    my $bad = $bad[unpack("%8C*", $word) % @bad];
    my $new = substr($word, 0, 1) . $bad;
    $new = length $new > length $word ? substr($new, 0, length $word) : $new . substr($word, length $new);
    my $count = $bytes =~ s/\Q$word\E/$new/g;
    print STDERR "$file: no $word\n" unless $count;
}
open my $out, ">", $file or die; binmode $out; print $out $bytes;
EOP
# A snapshot: functions, files, devices, their types, buffers, settings, descriptions.
cp -r "$source/examples/crash" snapshot
chmod -R u+w snapshot
cd snapshot || exit 1
"$bin/pugmark" record --quiet --protocol etmv4 --from path --perf ../crash.data 2>../said || { echo "no perf.data: $(cat ../said)"; exit 77; }
perl ../spoil.pl crash behind find number is_name _start crash.c
perl ../spoil.pl cpu_0.ini cpu_0
perl ../spoil.pl trace_0.ini trace_0
perl ../spoil.pl trace.ini trace.bin buffer_0 trace_0 cpu_0
perl ../spoil.pl snapshot.ini pugmark
mv trace.bin "$(sed -n 's/^file=//p' trace.ini)"
cd ..
# The same with what is wrong in each file.
for file in snapshot.ini cpu_0.ini trace_0.ini trace.ini; do
    cp -r snapshot wrong."$file"
    sed -e 's/^\[\(.*\)\]/[\1\x1b[31m\xc2\x9b]/' -e 's/=\(.*\)/=\1\x1b[32m\x9b/' "snapshot/$file" >"wrong.$file/$file"
    printf 'key\x1b[33m=\x07\n\x1b]0;t\x07\n[\x9b]\nfile=\x1b[1m\nname=\x1b\n' >>"wrong.$file/$file"
done
cp -r snapshot wrong.core
perl spoil.pl wrong.core/cpu_0.ini Cortex-A53
# perf.data: paths of programs, names of threads, facts of the machine; and the program itself.
cp crash.data named.data
perl spoil.pl named.data "$(strings -n 6 named.data | grep -m 1 crash)" aarch64
mkdir -p symfs/tmp
"$bin/pugmark" profile --quiet --stacks -o saved.profile snapshot 2>said || wrong "profile: exit $?: $(head -n 1 said)"
# Traces of software: text, names.
printf 'master 1\nchannel 2\ntext "a\x1b[31mb\xc2\x9b\x07"\n' >stm.script
printf 'text "a\x1b[31mb\xc2\x9b\x07"\n' >itm.script
"$bin/pugmark" record --quiet --script stm.script --protocol stm --out stm 2>said || true
cp -r "$source"/tests/captures/etmv4-a64 etmv4
cp -r "$source"/tests/captures/etrace-rv64 etrace
for capture in etmv4 etrace; do
    (cd $capture && for file in *.ini; do sed -i -e 's/^name=\(.*\)/name=\1\x1b[31m\xc2\x9b/' -e 's/^type=\(.*\)/type=\1/' "$file"; done)
done
head -c 3000 /dev/urandom >noise
printf '\x1b[31m\x9b = 3\nname\x1b = \xc2\x9b\n' >parameters

# ---- commands ----
clean() { # FILE: no control characters, and UTF-8
    perl -e 'local $/; my $text = <>; exit 0 unless length $text;
             exit 1 if $text =~ /[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]/;
             utf8::decode($text) or exit 1' "$1"
}
tried=0 seen=0
try() {
    timeout 60 "$bin/pugmark" "$@" >out 2>said </dev/null
    local code=$?
    ((code < 124)) || wrong "$*: exit $code"
    tried=$((tried + 1))
    clean out || wrong "$*: control characters: $(perl -ne 'print, last if /[\x00-\x08\x0b-\x1f\x7f-\xff]/' out | cat -v | cut -c 1-150)"
    clean said || wrong "$*: control characters in messages: $(perl -ne 'print, last if /[\x00-\x08\x0b-\x1f\x7f-\xff]/' said | cat -v | cut -c 1-150)"
    grep -q '\\x1b\|\\u001b\|\\x9b\|\\u009b' out said && seen=$((seen + 1))
}
commands=("calls" "calls --summary" "coverage" "coverage --format lcov" "coverage --format json" "coverage --format html" "info"
    "info --json" "list" "list --format jsonl" "list --packets" "list --by-time" "pc" "pc --by-thread" "stat" "report" "trace" "trace --ranges"
    "trace --by-time" "calls --by-time" "timeline --format chrome" "timeline --format speedscope" "profile" "profile --json" "profile --stacks"
    "find --sync" "find --function x" "index --rebuild" "itm" "list --around 50" "profile --dso none" "list --source 0x77" "list --buffer none"
    "list --set x=1" "list --comm none" "list --pid 9" "list --cpu 77" "stat --json" "trace --near 100" "diff --json")
for format in autofdo profgen bolt fdata llvm pprof callgrind folded json; do
    [[ $format == pprof || $format == autofdo ]] || commands+=("profile --format $format")
done
for input in snapshot named.data crash.data saved.profile stm etrace wrong.* etmv4 noise; do
    [[ $input != wrong.* ]] || commands=("info" "list" "report" "trace" "stat")
    for command in "${commands[@]}"; do
        # shellcheck disable=SC2086
        try $command "$input"
    done
done
for command in "diff snapshot etmv4" "diff saved.profile snapshot" "list --protocol etmv4 --params parameters noise" \
    "trace --elf snapshot/crash@0 etmv4" "profile --symfs symfs named.data" "profile --dso crash=snapshot/crash named.data" \
    "calls --dso crash=snapshot/crash crash.data" "trace --dso crash=snapshot/crash crash.data" "record --script stm.script --protocol itm --out x" \
    "record --from noise --protocol etmv4 --out x" "record --protocol etmv4 --from snapshot/path --out x --filter find" "encode parameters"; do
    # shellcheck disable=SC2086
    try $command
done
# What shells complete: names of inputs, and beside them what they are. A line is a candidate.
for input in snapshot wrong.* named.data crash.data etmv4; do
    for option in "list --source" "list --buffer" "list --cpu" "list --pid" "list --tid" "list --comm" "profile --dso" "find --function" "list --set" "trace --before"; do
        # shellcheck disable=SC2086
        try complete -- ${option% *} "$input" ${option#* } ""
    done
done
# The lister, too, but for names of its own.
for input in snapshot wrong.*; do
    for way in -logstdout -logstderr; do
        timeout 60 "$bin/trc_pkt_lister" -ss_dir $input -decode $way >out 2>said
        clean out && clean said || wrong "trc_pkt_lister $way $input: control characters: $(cat out said | perl -ne 'print, last if /[\x00-\x08\x0b-\x1f\x7f-\xff]/' | cat -v | cut -c 1-150)"
    done
done
# The text of software goes to a pipe as it is, and to a terminal so that it does not obey it.
perl -e 'print "\0\0\0\0\0\x80", map { pack "CC", 0x01, ord } split //, "a\e[31mb\xc2\x9b\ac\n"' >text.itm
"$bin/pugmark" itm text.itm >out 2>said || wrong "itm: exit $?: $(head -n 1 said)"
[[ $(cat -v out) == 'a^[[31mbM-BM-^[^Gc' ]] || wrong "itm: another text: $(cat -v out)"
if command -v script >/dev/null; then
    script -qec "'$bin/pugmark' itm text.itm" /dev/null </dev/null >out 2>&1
    LC_ALL=C grep -aq 'a\\x1b\[31mb.*\\x9b\\x07c' out || wrong "itm steers a terminal: $(cat -v out)"
fi
((tried > 250)) || wrong "only $tried commands were tried"
((seen > 50)) || wrong "in only $seen outputs there was something to escape"
exit $bad
