#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The table of ETMv4's cases says which case shows which rule: it names all of them and no others. Two of the files have
# each of the 256 header bytes as the begin of a packet.
set -eu
cd "$2/tests/cases/etmv4"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^|[^|]*| \(.*\.txt: .*\) |$/\1/p' README.md | sort >"$work/named"
awk '/^case /{sub(/^case /, ""); print FILENAME ": " $0}' *.txt | sort >"$work/there"
diff "$work/named" "$work/there" || { echo "README.md names (<) and the folder has (>)"; exit 1; }
for file in headers.txt ete_headers.txt; do
    sed -n 's/^\([0-9a-f][0-9a-f]\) .*#.*/\1/p' "$file" | sort -u >"$work/begin"
    seq 0 255 | xargs printf '%02x\n' | diff - "$work/begin" || { echo "$file lacks (<) headers"; exit 1; }
done
echo "$(wc -l <"$work/there") cases, 2 x 256 headers"
