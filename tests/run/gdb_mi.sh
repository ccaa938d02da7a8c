#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What VS Code's debuggers say to GDB (MI), over `pugmark gdb`: held against a recorded dialogue.
set -eu
bin=$1 source=$2
command -v gdb-multiarch >/dev/null || { echo "needs gdb-multiarch, which is not installed"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
export HOME=$tmp
dialogue() { # remote or extended-remote
  {
    printf '%s\n' '-gdb-set osabi none' '-gdb-set sysroot /' '-gdb-set print finish off'
    echo "-target-select $1 | $bin/pugmark gdb --stdio --quiet $source/examples/crash"
    printf '%s\n' -list-target-features -thread-info '-break-insert -t find' -exec-continue -stack-list-frames -exec-step \
      '-exec-step --reverse' -exec-next-instruction '-exec-next-instruction --reverse' '-exec-step-instruction' \
      '-exec-step-instruction --reverse' -exec-next '-exec-next --reverse' -exec-finish \
      '-exec-finish --reverse' '-exec-continue --reverse' '-interpreter-exec console "pugmark goto exception"' \
      '-stack-list-frames' '-break-insert find' '-exec-continue --reverse' -exec-continue -exec-continue \
      '-data-list-register-values x 31 32' -target-disconnect -gdb-exit
  } | timeout 100 gdb-multiarch -q -nx --interpreter=mi2 -x "$source/tools/pugmark/gdb/pugmark-gdb.py" 2>&1 |
    perl -ne '
      s/\r?\n$//;
      if (/^\*stopped/) {
        my ($reason) = /reason="([^"]*)"/;
        my ($function) = /func="([^"]*)"/;
        my ($line) = /line="(\d+)"/;
        print "*stopped ", $reason // "(no reason)", " $function:$line\n";
      } elsif (/^\^done,stack/) {
        print "stack ", join(" ", map { "$_" } /func="([^"]*)"/g), "\n";
      } elsif (/^\^done,threads/) {
        print "threads ", join(" ", map { "$_" } /target-id="([^"]*)",name="([^"]*)"/g), "\n";
      } elsif (/^\^done,bkpt/) {
        print "breakpoint ", /func="([^"]*)"/, "\n";
      } elsif (/^\^running|^\^done|^\^connected|^\^error|^\^exit/) {
        print "$_\n";
      } elsif (/^[~@"].*(pugmark:|No more)/) {
        print "$_\n";
      }'
}
for kind in remote extended-remote; do
  dialogue $kind >"$tmp/$kind"
  diff "$source/tests/run/gdb_mi.expected" "$tmp/$kind" || { echo "with $kind"; exit 1; }
done
