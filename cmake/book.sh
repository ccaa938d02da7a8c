#!/bin/sh
# SPDX-License-Identifier: MIT
# book.sh BUILD OUT: the book as pages in OUT. Its pages are those of docs/book, and the reference that `pugmark
# reference` made in BUILD. Ends with an error where Sphinx warns of anything.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
out=$2
[ -f "$build/reference/commands.md" ] || { echo "no $build/reference: first build Pugmark (make build)" >&2; exit 1; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/docs"
cp -r "$source/docs/book" "$stage/docs"
ln -s "$source/examples" "$source/tests" "$source/include" "$stage"
cp "$build/reference/commands.md" "$build/reference/messages.md" "$stage/docs/book/reference"
# A page that its folder's index does not list is listed last.
for index in "$stage"/docs/book/*/index.md; do
  for page in "$(dirname "$index")"/*.md; do
    name=$(basename "$page" .md)
    grep -qx -e "$name" -e "# $name" "$index" || [ "$name" = index ] || sed -i "\$ s/^\`\`\`\$/$name\n&/" "$index"
  done
done
sphinx-build -W --keep-going -q -j2 -d "$stage/doctrees" "$stage/docs/book" "$out"
