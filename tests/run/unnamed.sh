#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Code without a name is called by where it begins, [400020], the same in all views.
#   unnamed.sh BIN SOURCE
set -eu
pugmark=$(readlink -f "$1")/pugmark demo=$(readlink -f "$2")/examples/demo bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
wanted="[400000] [400014] [400020] [4000c4]"
names() { # COMMAND ...: the names in its output
  local said
  said=$("$pugmark" "$@" 2>/dev/null | grep -oE '\[[0-9a-f]{6,}\]' | sort -u | tr '\n' ' ')
  [[ $said == "$wanted " ]] || { echo "$*: ${said:-no names}"; bad=1; }
}
names calls "$demo"
names calls --summary "$demo"
names calls --summary --by function "$demo"
names profile "$demo"
names profile --format folded "$demo"
names profile --format callgrind "$demo"
names top "$demo"
names timeline --format chrome "$demo"
names timeline --format speedscope "$demo"
"$pugmark" report --quiet -o page.html "$demo"
for name in $wanted; do
  grep -qF -- "$name" page.html || { echo "report: no $name"; bad=1; }
done
"$pugmark" threads --rtos flow "$demo" 2>/dev/null | grep -qF '([4000c4])' || { echo "threads: another name"; bad=1; }
exit $bad
