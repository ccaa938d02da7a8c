#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# book.sh BIN SOURCE [PAGE...]: all commands of the book run as they stand, and print what it says (tests/support/book.pl).
# Pages whose programs are not here are passed over, with a message. Links lead to something.
set -eu
bin=$(cd "$1" && pwd) source=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$source"
bad=0
for page in README.md $(git ls-files 'docs/*.md' 2>/dev/null || find docs -name '*.md'); do
  [[ -e $page ]] || continue
  for link in $(sed '/^```/,/^```/d' "$page" | grep -oE '\]\([^)# ]+' | sed 's/^](//' | grep -vE '^(https?|mailto):' || true); do
    [[ -e $(dirname "$page")/$link ]] || { echo "$page: leads nowhere: $link"; bad=1; }
  done
done
perl tests/support/book.pl "$source" "$(dirname "$bin")" "$work" "${@:3}" || bad=1
exit $bad
