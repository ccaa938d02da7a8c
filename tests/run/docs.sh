#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The generated documentation: without a warning, and every public header is in it.
#   docs.sh BIN SOURCE
# Before that: tests that pages name are there, and all that docs/founding.md names. The rest is skipped (77) without doxygen.
set -eu
source=${2:?usage: docs.sh BIN SOURCE}
cd "$source"
for page in CONTRIBUTING.md docs/architecture.md docs/adding-a-protocol.md docs/testing.md docs/recorder.md docs/founding.md; do
  for name in $(grep -oE '`(test|run)_[a-z0-9_]+`' $page | tr -d '`' | sort -u); do
    [[ -f tests/unit/$name.c || -f tests/run/${name#run_}.sh ]] || { echo "$page: no $name"; exit 1; }
  done
done
page=docs/founding.md
# `test_index` goes_on, follows_growth: functions of a test; `cases/osd/ctm.txt` "events were missed": a case.
items() { awk '/^(- .*|)$/ { print item; item = "" } { item = item " " $0 } END { print item }' "$page" | tr -s ' '; }
{ items | grep -oE '\*Test\*:.*'; grep '^|' $page; } | grep -oE '`test_[a-z0-9_]+` [a-z0-9_]+(, [a-z0-9_]+)*' | tr -d '`,' | while read -r name functions; do
  for function in $functions; do
    grep -qw "static void $function" "tests/unit/$name.c" || { echo "$page: $name has no $function"; exit 1; }
  done
done
items | grep -oE '`cases/[a-z0-9_/.]+` "[^"]+"' | tr -d '`"' | while read -r file name; do
  grep -qE "^case $name" "tests/$file" || { echo "$page: $file has no case $name"; exit 1; }
done
for name in $(grep -oE '`pug_[a-z0-9_]+\(\)`' $page | tr -d '`()' | sort -u); do
  grep -rqw "$name" include src --include='*.h' || { echo "$page: no $name()"; exit 1; }
done
for name in $(grep -oE '`(src|include|docs|cases)/[a-z0-9_/.]+`' $page | tr -d '`' | sort -u); do
  [[ -e $name || -e tests/$name ]] || { echo "$page: no $name"; exit 1; }
done
# What the tests of other hosts leave out is listed, and nothing else.
page=docs/hosts.md
filter=$(grep '"name": "host".*' -A2 CMakePresets.json | sed -nE 's/.*"exclude": \{"name": "\^\((.*)\)\$"\}.*/\1/p')
wanted=$(sed -E 's/\(_shared\)\?//g; s/\.\*/\*/g' <<<"$filter" | grep -oE '(run|test)_\([^)]*\)|vectors_\*' |
  sed -E 's/^(run|test)_\((.*)\)/\1 \2/' | while read -r kind names; do
    [[ -z $names ]] && echo "$kind"
    tr '|' '\n' <<<"$names" | sed -n "s/..*/${kind}_&/p"
  done | sort)
documented=$(sed -n '/^Left out/,/^`/{/^`/!p}' $page | grep -oE '`(run|test|vectors)_[a-z0-9_*]+`' | tr -d '`' | sort -u)
[[ -n $wanted && $wanted == "$documented" ]] || { echo "$page does not say what is left out:"; diff <(echo "$wanted") <(echo "$documented"); exit 1; }
if ! command -v doxygen >/dev/null; then
  echo "skipped: there is no doxygen"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{ cat docs/Doxyfile; echo "OUTPUT_DIRECTORY = $work"; } >"$work/Doxyfile"
if ! doxygen "$work/Doxyfile" >"$work/said" 2>&1; then
  head -20 "$work/said"
  exit 1
fi
[[ ! -s $work/said ]] || { head "$work/said"; exit 1; }
for header in $(cd include && find . -name '*.h'); do
  page=$(basename "$header" .h | sed 's/_/__/g')
  ls "$work"/html/*"$page"_8h.html >/dev/null 2>&1 || { echo "not documented: $header"; exit 1; }
done
[[ -s $work/html/index.html ]]
