#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `pugmark debug`: what keys do, by the last page that it prints where its output is no terminal.
set -eu
bin=$1 source=$2
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
crash=$source/examples/crash

page() { printf '%s' "$1" | "$bin/pugmark" debug --quiet --source-dir "$crash" "$crash" >"$tmp/page"; }
# shows KEYS PATTERN...: all of them are on the page, of 24 lines of 80 columns at most
shows() {
  page "$1"
  [[ $(wc -l <"$tmp/page") == 24 ]] && ! grep -qE '.{81}' "$tmp/page" || { echo "'$1' makes a page of another size:"; cat "$tmp/page"; exit 1; }
  local pattern
  for pattern in "${@:2}"; do
    grep -q -- "$pattern" "$tmp/page" || { echo "'$1': no '$pattern' in:"; cat "$tmp/page"; exit 1; }
  done
}
shows '' '^#0 of ' '^> *210264 ' '#0  _start '
shows 's' '^#1 of ' '^> *210268 '
shows 'S' '^#0 of ' 'the trace begins here'
shows 'ssssS' '^#3 of '
shows 'c' '^> *2102e8' 'the trace ends here'
shows 'e' '^#746 of ' '^> *21032c .*before exception 12' '#0  read_line  crash.c:64' '#1  _start'
shows 'eS' '^#745 of ' '#0  number '
shows 'eSF' '^> *210328 ' '#0  read_line'
# From the fault to find(), whose loop found nothing.
shows $'e/find\n' '^> *210378 ' '#0  find ' '#1  read_line'
shows $'/find\nb0c' '^>\*'
# Any form of an address will do.
shows $'/find+0x8\n' '^> *210380 '
shows $'/crash.c:53\n' 'crash.c:53 '
shows $'/no_such_place\n' 'no program has no_such_place'
shows $'/find\nbgend\nC' '^>\* *210378 ' 'a breakpoint'
shows $'/find\nllL' '#0  find '
shows $'/find\nnN' '#0  find  crash.c:3[45]'
shows $'g#38\n' '^#38 of '
shows $'gend\n' '^> *2102e8'
shows $'g99999999\n' 'there is no such place'
shows $'g#38\nmag#10\n'"'a" '^#38 of ' 'mark a'
shows "'b" 'mark b is not set'
shows $'/nowhere\n' 'no program has nowhere'
shows 't' '^#0 of '
shows 'x' 'there is no such key'
shows $'/find\nf' '#0  read_line'
# The source, of the folder that was named alone.
grep -q 'find(' "$tmp/page"
printf '' | "$bin/pugmark" debug --quiet --source-dir "$tmp" "$crash" | grep -q 'its text is not here'
