#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cluster.sh BIN [MEGABYTES [ROUNDS]]: how pugmark-mpi scales on this machine: 1, 2, 3, 5 and 8 processes of one thread, on the
# bundled capture repeated (even), and on one whose second half is padding, which costs nothing (uneven). Prints the least wall
# time of each, how much faster that is than one, the processor time of all processes together, the most bytes that one
# of them read beside what the model of docs/cluster.md says (S / N), and what was sent.
set -eu
bin=$1 megabytes=${2:-256} rounds=${3:-3}
. "$(dirname "$0")/../tests/support/mpi.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for kind in even uneven; do
    cp -rL --no-preserve=mode "$(dirname "$0")/../examples/demo" "$tmp/$kind"
    perl -e 'local $/; my ($file, $kind, $size) = @ARGV; open my $f, "<:raw", $file; my $b = <$f>; open $f, ">:raw", $file;
        my $n = int($size * 1e6 / length $b); $n = int($n / 2) if $kind eq "uneven";
        print $f $b x 1000 for 1 .. $n / 1000; print $f "\0" x (1000 * length $b) for 1 .. $kind eq "uneven" ? $n / 1000 : 0' \
        "$tmp/$kind/trace.bin" $kind "$megabytes"
    size=$(stat -c %s "$tmp/$kind/trace.bin")
    : >"$tmp/all"
    for ((round = 0; round < rounds; round++)); do
        for count in 1 2 3 5 8; do
            TIMEFORMAT='%R %U %S'
            { time mpi "$count" "$bin/pugmark-mpi" --traffic stat --quiet --jobs 1 "$tmp/$kind" >"$tmp/out" 2>"$tmp/err"; } 2>"$tmp/time"
            told=$(sed -n 's/.*sent [0-9]* messages, \([0-9]*\) bytes; read \([0-9]*\) .*/\1 \2/p' "$tmp/err" |
                awk '{ sent += $1; if ($2 > most) most = $2 } END { print sent, most }')
            awk -v count="$count" -v told="$told" '{printf "%d %.3f %.3f %s\n", count, $1, $2 + $3, told}' "$tmp/time" >>"$tmp/all"
        done
    done
    echo "$kind, $size bytes:"
    echo "processes  wall seconds  faster  processor seconds  most bytes read       S / N  bytes sent"
    sort -n "$tmp/all" | awk -v size="$size" '
        !($1 in wall) { order[++n] = $1; wall[$1] = $2; cpu[$1] = $3 }
        { if ($2 < wall[$1]) wall[$1] = $2; if ($3 < cpu[$1]) cpu[$1] = $3; sent[$1] = $4; if (!($1 in most) || $5 < most[$1]) most[$1] = $5 }
        END { for (i = 1; i <= n; i++) { c = order[i]; printf "%9d  %12.2f  %6.2f  %17.2f  %15d  %10d  %10d\n",
            c, wall[c], wall[1] / wall[c], cpu[c], most[c], size / c, sent[c] } }'
done
