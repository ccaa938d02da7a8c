#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The manual: a page for each command and each everyday header, which mandoc and man have nothing to say about, and whose
# examples run.
#   man.sh BIN SOURCE
set -eu
pugmark=$1/pugmark source=$(readlink -f "$2") bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong() { echo "$*"; bad=1; }
mkdir "$work/pages"
"$pugmark" reference --prose "$source/docs/man" --date 2026-11-29 --output "$work/pages"
perl "$source/docs/man/headers.pl" 2026-11-29 0.0 "$source/docs/man/libpugmark.3.in" "$work/pages" "$source"/include/pugmark/*.h
for command in $("$pugmark" help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'); do
  page=$work/pages/pugmark-$command.1
  [[ -s $page ]] || { wrong "no page of $command"; continue; }
  order=$(grep '^\.SH' "$page" | head -4 | tr '\n' ' ')
  [[ $order == ".SH NAME .SH SYNOPSIS .SH EXAMPLES .SH DESCRIPTION "* || ! $("$pugmark" "$command" --help) == *Examples:* ]] ||
    wrong "$command: $order: examples do not stand first"
  grep -q "^## pugmark $command\$" "$work/pages/commands.md" || wrong "$command: not in commands.md"
done
for command in $("$pugmark" help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'); do
  examples=$("$pugmark" "$command" --help | sed -n '/^Examples:/,/^[A-Z].*[^:]$\|^Options/s/^    \([a-z].*\)/\1/p' | grep -cE '(^| )pugmark ' || true)
  ((examples >= 3)) || wrong "$command: only $examples examples"
done
for header in "$source"/include/pugmark/*.h; do
  grep -q '@file' "$header" || continue
  name=$(basename "$header" .h)
  page=$work/pages/pugmark_${name/#pugmark/h}.3
  [[ -s $page ]] || { wrong "no page of $name.h"; continue; }
  for function in $(grep -oE '^[a-z].*\bpug_[a-z0-9_]+\(' "$header" | grep -v '^typedef' | grep -oE 'pug_[a-z0-9_]+\(' | tr -d '(' | sort -u); do
    grep -q "^\.SS $function()" "$page" || wrong "$name.h: $function() is not in its page"
  done
done
for code in $("$pugmark" explain | sed -n 's/^  \([a-z0-9-]\{1,\}\)\( .*\)\{0,1\}$/\1/p'); do
  grep -q "^## $code\$" "$work/pages/messages.md" || wrong "$code: not in messages.md"
done
if command -v mandoc >/dev/null; then
  mandoc -Tlint "$work"/pages/*.[13] >"$work/said" || true
  [[ ! -s $work/said ]] || { wrong "mandoc:"; head "$work/said"; }
else
  echo "mandoc is not there: the pages are not checked by it"
fi
if command -v groff >/dev/null; then # as lintian does
  groff -Kutf8 -man -Tutf8 -z -ww "$work"/pages/*.[13] >"$work/said" 2>&1 || true
  [[ ! -s $work/said ]] || { wrong "groff:"; head "$work/said"; }
fi

# The examples of all pages, where they need no target, no QEMU and no file of somebody else's.
"$pugmark" --version | head -n 1 | grep -q '[( ]elf ' || exit $bad
cp -r "$source/examples" "$work/examples"
chmod -R u+w "$work/examples"
mkdir "$work/bin"
ln -s "$(readlink -f "$pugmark")" "$work/bin/pugmark"
cd "$work"
tried=0
while IFS= read -r line; do
  case $line in
    *openocd* | *pyocd* | *jlink* | *orbuculum* | *tcp:* | *serial:* | *capture.sr* | *capture.vcd* | *capture.csv* | *.elf*) continue ;;
    "pugmark record "*crash/crash) command -v qemu-aarch64 >/dev/null || continue ;;
  esac
  tried=$((tried + 1))
  code=0
  PATH=$work/bin:$PATH bash -c "$line" >output 2>said </dev/null || code=$?
  ((code < 2)) || { wrong "exit $code of: $line"; head -3 said; }
done < <(for command in $("$pugmark" help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'); do
  "$pugmark" "$command" --help | sed -n '/^Examples:/,/^[A-Z].*[^:]$\|^Options/s/^    \([a-z].*\)/\1/p' | grep -E '(^| )pugmark '
done)
((tried > 50)) || wrong "only $tried examples were tried"
exit $bad
