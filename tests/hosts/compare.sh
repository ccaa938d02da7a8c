#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compare.sh NATIVE OTHER SOURCE [CAPTURE...]: the commands of another host's build write, byte for byte, what this
# host's write, of each of the project's captures; and each reads the files that the other made.
set -eu
native=$(realpath "$1") other=$(realpath "$2") source=$(realpath "$3")
shift 3
[[ $# -gt 0 ]] || set -- "$source"/examples/demo "$source"/tests/captures/*/
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 compared=0

# What a command says and writes, in the order of the commands below, in a folder of its own.
run() { # folder, bin, words...
  local folder=$1 program=$2/pugmark code attempt
  shift 2
  # Once in a thousand times Wine ends with 1 before a program begins, and nothing is said: that is tried again.
  for attempt in 1 2 3; do
    code=0
    (cd "$folder" && exec "$program" "$@" >new 2>complaint) || code=$?
    [[ $code == 1 && ! -s $folder/new && ! -s $folder/complaint ]] || break
  done
  cat "$folder/new" >>"$folder/said"
  cat "$folder/complaint" >>"$folder/complaints"
  rm "$folder/new" "$folder/complaint"
  echo "$code" >>"$folder/codes"
}
read_all() { # folder, bin, capture
  local next
  for next in "list $3" "list --packets $3" "list --format jsonl $3" "pc $3" "info $3" \
      "calls $3" "trace --ranges --last 500 $3" "timeline --format chrome -o timeline $3" \
      "index -o short.index $3" "index --full --elements -o full.index $3" \
      "profile $3" "profile --stacks -o saved.pug $3" "profile --format folded -o folded $3" \
      "coverage --format json $3"; do
    # shellcheck disable=SC2086
    run "$1" "$2" $next --quiet
  done
}
read_foreign() { # folder, bin, capture, the other's folder
  run "$1" "$2" find --sync --index "$4/short.index" "$3"
  run "$1" "$2" find --overflow --index "$4/full.index" "$3"
  run "$1" "$2" list --index "$4/full.index" --from 8192 --to 9216 --quiet "$3"
  run "$1" "$2" profile "$4/saved.pug"
  run "$1" "$2" merge -o merged.pug "$4/saved.pug" "$4/saved.pug"
}
for capture in $(realpath "$@"); do
  name=$(basename "$capture")
  here=$work/$name/here there=$work/$name/there
  mkdir -p "$here" "$there"
  read_all "$here" "$native" "$capture"
  read_all "$there" "$other" "$capture"
  read_foreign "$here" "$native" "$capture" "$there"
  read_foreign "$there" "$other" "$capture" "$here"
  [[ $(stat -c %s "$here/said") -gt 10000 ]] || { echo "$name: hardly anything to compare"; failed=1; }
  sed -i "s|$work/$name/[a-z]*/||" "$here"/{said,complaints} "$there"/{said,complaints}
  if ! diff -rq "$here" "$there"; then
    failed=1
    for what in codes said complaints; do diff "$here/$what" "$there/$what" | head -n 10; done
  fi
  compared=$((compared + 1))
done
echo "$compared captures compared"
[[ $failed == 0 && $compared -gt 0 ]]
