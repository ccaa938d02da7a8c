#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cluster.sh BIN [MEGABYTES [ROUNDS]]: how pugmark-mpi scales on this machine: 1, 2, 3, 5 and 8 processes of one thread, on
#   even    the bundled capture repeated
#   uneven  the same, its second half being padding, which costs nothing
#   silent  the same, with a second source that speaks at the beginning and at 5/8 only
#   once    STM that is synchronised at its beginning alone
# Prints the least wall time of each, how much faster that is than one, the processor time of all processes together, the most
# bytes that one of them read beside what the model of docs/cluster.md says (S / N), and what was sent. Then what the file
# system gives where it has nothing in memory (R), and runs on files that are not in memory. PUG_KINDS and PUG_COUNTS choose.
set -eu
bin=$1 megabytes=${2:-256} rounds=${3:-3}
. "$(dirname "$0")/../tests/support/mpi.sh"
demo=$(dirname "$0")/../examples/demo
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
TIMEFORMAT='%R %U %S'

fill() { # KIND FILE
    perl -e 'local $/; my ($demo, $kind, $file, $size) = @ARGV; open my $d, "<:raw", $demo; my $b = <$d>;
        open my $f, ">:raw", $file; my $n = int($size * 1e6 / length($b) / 1000);
        sub even { print $f $b x 1000 for 1 .. $_[0] }
        sub other { my $o = $b; substr($o, 0, 1) = "\x23"; print $f $o }
        if ($kind eq "once") {
            print $f "\xff" x 10, "\x0f\x0f\x30\x21\x34\x07"; print $f "\x14\x42\x21" x 100000 for 1 .. $size * 10 / 3;
        } elsif ($kind eq "silent") { other(); even($n * 5 / 8); other(); even($n * 3 / 8)
        } elsif ($kind eq "uneven") { even($n / 2); print $f "\0" x (1000 * length $b) for 1 .. $n / 2
        } else { even($n) }' "$demo/trace.bin" "$1" "$2" "$megabytes"
}

make_input() { # KIND: sets input, trace
    input=("$tmp/$1") trace=$tmp/$1/trace.bin
    if [ "$1" = once ]; then
        mkdir "$tmp/$1"
        input=(--protocol STM --transport plain "$trace")
    else
        cp -rL --no-preserve=mode "$demo" "$tmp/$1"
    fi
    if [ "$1" = silent ]; then
        sed -e 's/name=ETM_0/name=ETM_1/' -e 's/^\(TRCTRACEIDR.*\)10$/\111/' "$demo/ETM_0.ini" >"$tmp/$1/ETM_1.ini"
        sed -i 's/^device1=.*/&\ndevice2=ETM_1.ini/' "$tmp/$1/snapshot.ini"
        sed -i -e 's/^ETM_0=.*/&\nETM_1=ETB_0/' -e 's/^cpu_0=.*/cpu_0=ETM_0,ETM_1/' "$tmp/$1/trace.ini"
    fi
    fill "$1" "$trace"
}

run() { # PROCESSES: prints them, seconds, processor seconds, bytes sent, most bytes read
    { time mpi "$1" "$bin/pugmark-mpi" --traffic stat --quiet --jobs 1 "${input[@]}" >"$tmp/out" 2>"$tmp/err"; } 2>"$tmp/time" || true
    sed -n 's/.*sent [0-9]* messages, \([0-9]*\) bytes; read \([0-9]*\) .*/\1 \2/p' "$tmp/err" |
        awk '{ sent += $1; if ($2 > most) most = $2 } END { print sent, most }' >"$tmp/counted"
    awk -v count="$1" -v counted="$(cat "$tmp/counted")" '{printf "%d %.3f %.3f %s\n", count, $1, $2 + $3, counted}' "$tmp/time"
}

forget() { # what is in memory of the trace
    sync "$trace"
    dd if="$trace" iflag=nocache count=0 2>/dev/null
}

for kind in ${PUG_KINDS:-even uneven silent once}; do
    make_input "$kind"
    size=$(stat -c %s "$trace")
    : >"$tmp/all"
    for ((round = 0; round < rounds; round++)); do
        for count in ${PUG_COUNTS:-1 2 3 5 8}; do run "$count" >>"$tmp/all"; done
    done
    echo "$kind, $size bytes:"
    echo "processes  wall seconds  faster  processor seconds  most bytes read       S / N  bytes sent"
    sort -n "$tmp/all" | awk -v size="$size" '
        !($1 in wall) { order[++n] = $1; wall[$1] = $2; cpu[$1] = $3 }
        { if ($2 < wall[$1]) wall[$1] = $2; if ($3 < cpu[$1]) cpu[$1] = $3; sent[$1] = $4; if (!($1 in most) || $5 < most[$1]) most[$1] = $5 }
        END { for (i = 1; i <= n; i++) { c = order[i]; printf "%9d  %12.2f  %6.2f  %17.2f  %15d  %10d  %10d\n",
            c, wall[c], wall[1] / wall[c], cpu[c], most[c], size / c, sent[c] } }'
    if [ "$kind" = even ]; then
        forget
        { time dd if="$trace" of=/dev/null bs=4M iflag=direct 2>"$tmp/dd" || dd if="$trace" of=/dev/null bs=4M 2>"$tmp/dd"; } 2>"$tmp/time"
        awk -v size="$size" '{printf "R, read directly: %.0f MB/s\n", size / $1 / 1e6}' "$tmp/time"
        for count in 1 2; do
            forget
            run "$count" | awk '{printf "nothing in memory, %d processes: %.2f seconds\n", $1, $2}'
        done
    fi
    rm -rf "${tmp:?}/$kind"
done
