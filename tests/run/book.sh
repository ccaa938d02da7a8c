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
# The C in README.md and in the book's pages compiles, in a function.
if command -v cc >/dev/null; then
  cat README.md $(find docs/book -name '*.md') | awk '/^```c$/ {in_c = 1; n++; next} /^```/ {in_c = 0} in_c {print > (work "/block." n)}' work="$work"
  for block in "$work"/block.*; do
    { grep '^#include' "$block"; echo 'bool take(void *, const struct pug_origin *, const struct pug_element *, size_t); void f(void *context);'
      echo 'void f(void *context)'; echo '{'; grep -v '^#include' "$block"; echo '}'; } >"$work/block.c"
    cc -std=c17 -Wall -Wextra -Werror -fsyntax-only -Iinclude "$work/block.c" || { cat "$block"; bad=1; }
  done
fi
mkdir "$work/0" "$work/1"
BOOK_SHARE=1/2 perl tests/support/book.pl "$source" "$(dirname "$bin")" "$work/1" "${@:3}" >"$work/said" 2>&1 &
BOOK_SHARE=0/2 perl tests/support/book.pl "$source" "$(dirname "$bin")" "$work/0" "${@:3}" || bad=1
wait $! || bad=1
cat "$work/said"
exit $bad
