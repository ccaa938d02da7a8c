#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Windows of time in RISC-V trace, with every source of times: the encapsulation, whole or in part; differences; bits that
# changed; absolute times that wrap. What runs in each follows from the full list, where each element has the time of the next
# timestamp; the place that find and list --from-time begin with is where the first one is.
#   times.sh BIN SOURCE
set -u
bin=${1:?usage: times.sh BIN SOURCE} source=${2:?usage: times.sh BIN SOURCE}
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
pugmark=$bin/pugmark
failed=0
command -v perl >/dev/null || { echo "there is no perl"; exit 77; }
wrong() { echo "FAILED: $*"; failed=1; }

# Of a list as CSV: for some pairs of its timestamps the instructions between them, and where the first one is.
# And the first and the last of all, so that it is seen whether they wrap.
windows() {
    perl -F, -ane '
        next unless $F[0] =~ /^\d+$/;
        push @at, $F[0];
        push @count, $F[2] eq "INSTR_RANGE" ? $F[7] : 0;
        push @time, $F[2] eq "TIMESTAMP" ? hex $F[5] : undef;
        END {
            my ($next, @dated, @stamps) = ();
            for (reverse 0 .. $#at) { $next = $_ if defined $time[$_]; $dated[$_] = $next; }
            my ($last) = grep { defined $time[$_] } reverse 0 .. $#at;
            $dated[$_] //= $last for 0 .. $#at;
            # several elements may begin at the place of the timestamp, and belong to it
            @stamps = grep { defined $time[$_] } 0 .. $#at;
            my %time_at = map { $at[$_] => $time[$_] } @stamps;
            for my $n (1 .. 6) {
                my ($from, $to) = map { $time[$stamps[$_ * @stamps / 16]] } $n * 2, $n * 2 + 3;
                my $sum = 0;
                for (0 .. $#at) {
                    my $of = $time_at{$at[$_]} // $time[$dated[$_]];
                    $sum += $count[$_] if $of >= $from && $of < $to;
                }
                my ($first) = grep { $time[$_] >= $from } @stamps;
                print "$from $to $sum $at[$first]\n";
            }
        }'
}

# check WHAT CAPTURE PROTOCOL OPTIONS...: record its path so, and look at the windows.
check() {
    local what=$1 capture=$2 protocol=$3 from to sum first got jobs way
    shift 3
    rm -rf "$work/made"
    "$pugmark" record --quiet --from "$source/tests/captures/$capture/path" --protocol "$protocol" --out "$work/made" \
        "$@" || { wrong "$what: it is not recorded"; return; }
    "$pugmark" list --quiet --format csv "$work/made" | windows >"$work/windows"
    (($(wc -l <"$work/windows") == 6)) || wrong "$what: there are no times"
    while read -r from to sum first; do
        for jobs in 1 2; do
            got=$("$pugmark" stat --quiet --jobs $jobs --time "$from,$to" "$work/made" | awk '$2 == "instructions" { print $1 }')
            [[ $got == "$sum" ]] || wrong "$what: --jobs $jobs --time $from,$to: $got instructions, not $sum"
        done
        rm -f "$work/index"
        for way in sparse --full; do
            [[ $way == sparse ]] && way=
            "$pugmark" index --quiet $way --block 1024 --rebuild --output "$work/index" "$work/made" || wrong "$what: no index"
            got=$("$pugmark" find --quiet --index "$work/index" --time "$from" "$work/made" | awk '{ print $1 }')
            [[ $got == "$first" ]] || wrong "$what: find --time $from: ${got:-nothing}, not $first"
        done
        got=$("$pugmark" list --quiet --index "$work/index" --from-time "$from" "$work/made" | awk 'NR == 1 { print $1 }')
        [[ $got == "$first" ]] || wrong "$what: list --from-time $from: ${got:-nothing}, not $first"
    done <"$work/windows"
}

check "E-Trace, 64 bits in the encapsulation" etrace-rv64 etrace --sync 5000 --times 100 --set time_bits=0 --set timestamp_bytes=8
check "E-Trace, 16 bits there" etrace-rv64 etrace --sync 5000 --times 100 --set time_bits=0 --set timestamp_bytes=2
check "E-Trace, 16 bits there, and whole times" etrace-rv64 etrace --sync 5000 --times 100 --set time_bits=64 --set timestamp_bytes=2
check "N-Trace" ntrace-rv64 ntrace --sync 5000 --times 100
check "N-Trace, times that wrap" ntrace-rv64 ntrace --sync 5000 --times 100 --set ts_width=14
check "N-Trace, pre-1.0" ntrace-rv64 ntrace --sync 5000 --times 100 --set sifive=1
check "N-Trace, pre-1.0, of several harts" ntrace-rv64 ntrace --sync 5000 --times 100 --set sifive=1 --set src_bits=3
exit $failed
