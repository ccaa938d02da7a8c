#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cluster.sh BIN [MEGABYTES]: how pugmark-mpi scales on this machine: 1, 2, 4 and 8 processes of one thread, three times, on the
# bundled capture repeated. Prints the least wall time of each, the processor time of all processes together,
# how much faster it is than one, and what was sent. docs/cluster.md has figures.
set -eu
bin=$1 megabytes=${2:-256}
. "$(dirname "$0")/../tests/support/mpi.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp -rL "$(dirname "$0")/../examples/demo" "$tmp/demo"
perl -e 'local $/; open my $f, "<:raw", $ARGV[0]; my $b = <$f>; close $f; open $f, ">:raw", $ARGV[0]; print $f $b x ($ARGV[1] * 1000000 / length $b)' \
    "$tmp/demo/trace.bin" "$megabytes"
for round in 1 2 3; do
    for count in 1 2 4 8; do
        TIMEFORMAT='%R %U %S'
        { time mpi "$count" "$bin/pugmark-mpi" --traffic stat --json --jobs 1 "$tmp/demo" >"$tmp/out" 2>"$tmp/err"; } 2>"$tmp/time"
        sent=$(sed -n 's/.*sent [0-9]* messages, \([0-9]*\) bytes.*/\1/p' "$tmp/err" | paste -sd+ | bc)
        awk -v count="$count" -v sent="$sent" '{printf "%d %.3f %.3f %d\n", count, $1, $2 + $3, sent}' "$tmp/time" >>"$tmp/all"
    done
done
echo "processes  wall seconds  faster  processor seconds  bytes sent"
sort -n "$tmp/all" | awk '
    !($1 in wall) { order[++n] = $1; wall[$1] = $2; cpu[$1] = $3 }
    { if ($2 < wall[$1]) wall[$1] = $2; if ($3 < cpu[$1]) cpu[$1] = $3; sent[$1] = $4 }
    END { for (i = 1; i <= n; i++) { c = order[i]; printf "%9d  %12.2f  %6.2f  %17.2f  %10d\n", c, wall[c], wall[1] / wall[c], cpu[c], sent[c] } }'
