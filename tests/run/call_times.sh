#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Times of calls, and the task that they belong to: the same whether a path is recorded as a snapshot or as perf.data; no task
# where trace is missing between two timestamps; and every command has one word for that.
#   call_times.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
command -v perl >/dev/null || { echo "there is no perl"; exit 77; }
captures=$source/tests/captures
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
fail() { echo "$*"; bad=1; }
cd "$work" || exit 1

# "B NAME TIME", "E TIME" lines of a Chrome file: of tracks with calls, and of the others.
slices() { # WHETHER... FILE
    perl -ne '
        BEGIN { $calls = shift }
        my ($kind, $name, $track, $time) = /"ph": "([BE])"(?:, "name": "([^"]*)")?, "pid": \d+, "tid": (\d+), "ts": ([\d.]+)/ or next;
        $has{$track} = 1 if /"cat": "call"/ && !/"name": "thread /;
        push @all, [$track, $kind eq "B" ? "B $name $time\n" : "E $time\n"];
        END { print map { $_->[1] } grep { ($has{$_->[0]} // 0) == $calls } @all }' "$@"
}

# ---- one path, recorded in both ways ----

path=$captures/etmv4-a64-broadcast/path
"$pugmark" record --quiet --from "$path" --protocol etmv4 --times 30 --out snapshot || fail "record: exit $?"
"$pugmark" record --quiet --from "$path" --protocol etmv4 --times 30 --perf perf.data || fail "record --perf: exit $?"
# perf.data has no code: the program is that of the snapshot, in the only page of its file
perl -e 'open my $in, "<:raw", "snapshot/memory_0.bin" or die; my $code = do { local $/; <$in> };
    my $size = 0x200 + length $code;
    my $head = "\x7fELF\x02\x01\x01" . "\0" x 9 . pack("vvVQQQVvvvvvv", 2, 183, 1, 0x210200, 64, 0, 0, 64, 56, 1, 64, 0, 0) .
        pack("VVQQQQQQ", 1, 5, 0, 0x210000, 0x210000, $size, $size, 0x1000);
    binmode STDOUT; print $head, "\0" x (0x200 - length $head), $code' >program
perf=(--quiet --dso plain.a64=program perf.data)

"$pugmark" trace --ranges snapshot | sed -n 's/^-- at \([0-9]*\) ticks$/\1/p' >want
[[ $(wc -l <want) -gt 100 ]] || fail "trace: there are no times"
first=$(head -n 1 want) last=$(tail -n 1 want)
for jobs in 1 2 8; do
    "$pugmark" trace --ranges --jobs $jobs "${perf[@]}" | sed -n 's/^-- at \([0-9]*\) ticks$/\1/p' >got
    cmp -s want got || fail "trace --jobs $jobs: perf.data has $(wc -l <got) times of $(wc -l <want)"
done
# each range is dated by the next timestamp, or the last one
"$pugmark" list --quiet --format csv snapshot |
    perl -F, -ane 'if ($F[2] eq "TIMESTAMP") { $last = hex $F[5]; print "$last\n" x $n; $n = 0 } $n++ if $F[2] eq "INSTR_RANGE"; END { print "$last\n" x $n }' >want
"$pugmark" trace --ranges --format jsonl "${perf[@]}" | sed -n 's/.*"time": \([0-9]*\),.*"end": .*/\1/p' >got
cmp -s want got || fail "trace --format jsonl: perf.data has other times"

for exact in '' --exact; do
    "$pugmark" timeline ${exact:+$exact} --quiet --format chrome snapshot >chrome
    slices 1 chrome >want
    grep -c '^B' want | cmp -s - <("$pugmark" timeline --quiet --format chrome --clock instructions snapshot | grep -c '"cat": "call"') ||
        fail "timeline $exact: there are no slices"
    [[ $(awk '{ print $NF }' want | sort -n | sed -n '1p;$p' | xargs) == "$first $last" ]] || fail "timeline $exact: not from $first to $last"
    for jobs in 1 2 8; do
        "$pugmark" timeline ${exact:+$exact} --format chrome --jobs $jobs "${perf[@]}" >chrome
        slices 1 chrome | cmp -s want - || fail "timeline $exact --jobs $jobs: perf.data has other slices"
    done
done
# the processor runs the thread from the first timestamp to the last
slices 0 chrome >got
"$pugmark" info "${perf[@]}" 2>/dev/null | sed -n 's/.*source 0x10: .* times \([0-9]*\) to \([0-9]*\)$/B thread \1\nE \2/p' >want
[[ -s want ]] && sed 's/^B thread .* /B thread /' got | cmp -s want - || fail "the processor's track: $(head -n 4 got | tr '\n' ' ')"

# ---- whose time it is ----

# sums WEIGHT-OPTIONS... CAPTURE: of all stacks
sums() { "$pugmark" profile --quiet --format folded --weight time "$@" 2>/dev/null | awk '{ sum += $NF } END { print sum + 0 }'; }

# What passes between two timestamps of a source goes to one stack, or to none where trace is missing between them.
all=0 turn=0
for capture in "$captures"/*-*/; do
    name=$(basename "$capture")
    for id in $("$pugmark" info "$capture" | sed -n 's/^source \(0x[0-9a-f]*\).*/\1/p' | sort -u); do
        want=$("$pugmark" list --quiet --format csv --source "$id" "$capture" |
            perl -F, -ane '
                undef $last if $F[2] eq "TRACE_ON" || $F[2] eq "NO_SYNC";
                next unless $F[2] eq "TIMESTAMP";
                my $time = hex $F[5];
                $sum += $time - $last if defined $last && $time > $last;
                $last = $time;
                END { print $sum // 0 }')
        all=$((all + want))
        jobs=$((1 << ((turn += 1) % 4)))
        got=$(sums --jobs $jobs --source "$id" "$capture")
        [[ $got == "$want" ]] || fail "$name --source $id --jobs $jobs: time of $got, not $want"
    done
    "$pugmark" profile --quiet --stacks --output saved "$capture"
    [[ $(sums saved) == "$(sums "$capture")" ]] || fail "$name: another time of the saved profile"
    [[ $(sums saved saved) == $((2 * $(sums "$capture"))) ]] || fail "$name: another time of merged profiles"
done
((all > 0)) || fail "there was no time in any capture"

# A thread that was not traced for 1276292 ticks: its stack has none of them, and what was before has an earlier time.
long=(--quiet --source 0x11 "$captures/etmv4-a64")
"$pugmark" profile --format folded --weight time "${long[@]}" | awk '$NF > 200000 { exit 1 }' || fail "a pause is somebody's time"
"$pugmark" timeline --format chrome "${long[@]}" >chrome
grep -q '"name": "not traced", .*"ts": 16734486, "dur": 1276292}' chrome || fail "the pause is not seen"
grep '"ph": "i"' chrome | sed -n 's/.*"ts": \([0-9]*\),.*/\1/p' | awk '$1 > 16734486 && $1 < 18010778 { exit 1 }' || fail "something was in the pause"

# ---- threads that take turns ----

turns=$(readlink -f "$(dirname "$pugmark")/../tests")/perf_turns
on_processor() { grep -o '"ph": "[BE]".*"pid": 0, .*"ts": [0-9.]*' | sed 's/"pid.*"ts"/"ts"/'; }
for gaps in no gaps; do
    mkdir "turns-$gaps" && (cd "turns-$gaps" && "$turns" $gaps) || fail "perf_turns $gaps: exit $?"
    perf=(--quiet --symfs "turns-$gaps" "turns-$gaps/perf.data")

    # the processor has a thread as long as it has, also where others are not chosen
    "$pugmark" timeline --format chrome "${perf[@]}" | on_processor | perl -ne 'print "$_" . <> if /201/' >want
    (($(wc -l <want) == 6)) || fail "timeline $gaps: the processor's track has no turns"
    for choice in '--tid 201' '--pid 200' '--comm one'; do
        "$pugmark" timeline $choice --format chrome "${perf[@]}" | on_processor | cmp -s want - ||
            fail "timeline $gaps $choice: the processor's track is another one"
    done

    # of every 1000 each runs 100; on the wall its function takes all of it
    for tid in 201 302; do
        took() { "$pugmark" calls --summary "$@" "${perf[@]}" | awk -v tid=$tid '$1 == tid { print $4; exit }'; }
        for choice in '' "--tid $tid"; do
            [[ $(took $choice) == 2100 ]] || fail "calls $gaps $choice: $tid took $(took $choice)"
            [[ $(took --running $choice) == 300 ]] || fail "calls --running $gaps $choice: $tid took $(took --running $choice)"
        done
    done
    "$pugmark" calls --running --tid 201 "${perf[@]}" >got
    grep -q 'times are in ticks while it runs' got || fail "calls --running $gaps does not say so"
    [[ $(awk '$3 ~ /^[0-9]+$/ { print $3 }' got | xargs) == '1000 1100 1200 1300 1300' ]] || fail "calls --running $gaps: $(cat got)"
done
# Threads that move between processors with buffers of their own do what they do on one: buffers are read in the order of time.
for how in moves sink; do
    mkdir turns-$how && (cd turns-$how && "$turns" $how) || fail "perf_turns $how: exit $?"
done
for command in "calls" "calls --tid 302" "calls --summary" "calls --running"; do
    "$pugmark" $command --symfs turns-no turns-no/perf.data >want 2>said
    for jobs in 1 8; do
        "$pugmark" $command --jobs $jobs --symfs turns-moves turns-moves/perf.data 2>&1 | cmp - want || fail "$command --jobs $jobs: threads that move do something else"
    done
done
for how in no moves; do
    "$pugmark" timeline --quiet --format chrome --symfs turns-$how turns-$how/perf.data >chrome
    slices 1 chrome >slices-$how
done
[[ -s slices-no ]] && cmp slices-no slices-moves || fail "timeline: threads that move have other slices"
"$pugmark" trace --last 2 --tid 201 --symfs turns-moves turns-moves/perf.data 2>&1 | grep -q 'at 0.000003500 s' || fail "trace: the last of a thread is not what it did last"
# Where both are in one buffer it is said that times go back.
for command in "calls" "timeline --output moved" "report --output moved"; do
    "$pugmark" $command --symfs turns-sink turns-sink/perf.data 2>said >/dev/null
    grep -q '^pugmark: 2 times a thread' said || fail "$command does not say that threads go back: $(cat said)"
    for how in no moves; do
        "$pugmark" $command --symfs turns-$how turns-$how/perf.data 2>&1 >/dev/null | grep 'times a thread' && fail "$command: nothing goes back"
    done
done
"$pugmark" calls --running --summary --symfs turns-sink turns-sink/perf.data 2>/dev/null | awk 'NR > 1 && $4 > 300 { exit 1 }' ||
    fail "calls --running: more than there was of threads that move"

# what was not traced is no time that a function ran; where all is traced nothing is left out
"$pugmark" calls --quiet --running --summary snapshot | awk 'NR > 1 { print $3 }' | sort -n | tail -n 1 >got
"$pugmark" calls --quiet --summary snapshot | awk 'NR > 1 { print $3 }' | sort -n | tail -n 1 >want
(($(cat got) > 0 && $(cat got) <= $(cat want))) || fail "calls --running: $(cat got) of $(cat want)"
"$pugmark" calls --quiet --running "$captures/etmv4-a64-broadcast" | grep -v 'times are in' >got
"$pugmark" calls --quiet "$captures/etmv4-a64-broadcast" | grep -v 'times are in' | cmp -s - got || fail "calls --running: other times where all is traced"
"$pugmark" calls --running --by-time snapshot >said 2>&1
[[ $? == 2 ]] && grep -q -- '--by-time' said || fail "calls --running --by-time: $(cat said)"

# ---- what is missing, and why ----

# words CAPTURE WANTED OTHER: so many times, in each command
words() {
    "$pugmark" calls --quiet "$1" >calls
    "$pugmark" timeline --format chrome "$1" >chrome 2>said
    "$pugmark" report --quiet --output page "$1"
    local count
    count=$(grep -c "/\* $2 \*/" calls)
    ((count > 0)) || fail "$1: calls does not say: $2"
    grep -q "; $2: $count times" said || fail "$1: timeline says $(grep -o ';.*' said), calls $2 $count times"
    [[ $(grep -c "\"name\": \"$2\"" chrome) == "$count" ]] || fail "$1: the timeline has $2 another number of times"
    bash "$source/tests/report/unpack.sh" page >parts # gaps that touch are one, with their number
    [[ $(grep -oP "\"$2\", \K[0-9]+" parts | awk '{ n += $1 } END { print n }') == "$count" ]] || fail "$1: the report has $2 another number of times"
    grep -q "$3" calls said chrome parts && fail "$1: there is something of $3"
}
words snapshot 'not traced' 'trace lost\|trace was lost'
words "$captures/ete-a64-loss" 'trace lost' 'what ran is not known'
exit $bad
