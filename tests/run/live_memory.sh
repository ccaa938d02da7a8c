#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Memory stays flat while a stream is read: between a tenth of it and its end it grows by less than 2 MB. 20 MB through
# stat and itm, 8 MB through list; `make live-test` has 1 GB and 100 MB.
#   live_memory.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark bad=0 scale=${PUG_LIVE_SCALE:-1}
[[ -r /proc/self/status ]] || { echo "no /proc: skipped"; exit 77; }
grep -aqE '__[at]san_init' "$1/pugmark" && { echo "sanitizers keep memory: skipped"; exit 77; }
[[ $(head -c 2 "$1/pugmark") != "#!" ]] || { echo "emulators' memory is not ours: skipped"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
mkfifo "$work/trace"

# Writes so many megabytes of ITM, and how much memory the reader has at a tenth, and when all but a pipe's room is read.
cat >"$work/write.pl" <<'PERL'
use strict; use warnings;
my ($fifo, $megabytes, $pid, $report) = @ARGV;
my $piece = join "", map { "\0\0\0\0\0\x80" x ($_ % 64 == 0) . "\x03" . sprintf("%4d", $_ % 10000) . "\x01\n" . "\x0e\x0f\x10\xc0\x05" } 1..1000;
my ($size, $done, @memory) = ($megabytes * 1e6, 0);
sub memory { open my $f, "<", "/proc/$pid/status" or return -1; my ($kb) = map { /^VmRSS:\s+(\d+)/ ? $1 : () } <$f>; return $kb // -1 }
open my $out, ">", $fifo or die;
$SIG{PIPE} = "IGNORE";
while ($done < $size) {
  for (my $at = 0; $at < length $piece;) { my $n = syswrite $out, $piece, length($piece) - $at, $at; exit 1 unless $n; $at += $n }
  $memory[0] = memory() if !@memory && $done > $size / 10 && ($done > 6e6 || $size < 6e6); # its first 4 MB are kept
  $done += length $piece;
}
$memory[1] = memory();
open my $f, ">", $report or die;
print $f "@memory\n";
PERL

# flat MEGABYTES COMMAND...
flat() {
  local megabytes=$(($1 * scale)) first last
  shift
  rm -f "$work/memory"
  timeout 3000 "$pugmark" "$@" --protocol itm --quiet "$work/trace" >/dev/null 2>"$work/said" &
  local shell=$! reader=
  for _ in {1..100}; do reader=$(pgrep -P "$shell" 2>/dev/null | head -n 1); [[ $reader ]] && break; sleep 0.05; done
  perl "$work/write.pl" "$work/trace" "$megabytes" "$reader" "$work/memory" || { echo "$*: nothing was written"; bad=1; }
  wait "$shell" || { echo "$*: failed: $(cat "$work/said")"; bad=1; }
  read -r first last <"$work/memory"
  [[ $first -gt 0 && $last -gt 0 ]] || { echo "$*: memory is not known: skipped"; exit 77; }
  ((last - first < 2048)) || { echo "$*: $first KB at a tenth of $megabytes MB, $last KB at the end"; bad=1; }
}
flat 20 stat
flat 20 itm
flat $((scale > 3 ? 2 : 8)) list # more than stays of it
exit $bad
