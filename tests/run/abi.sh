#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The binary interface: what public headers declare is exported and nothing else; nothing in the static
# library is without its prefix; and what tests/abi lists is still there, and of the same size. What is
# new need not be listed yet. `make abi` rewrites the lists, and that of the Debian package (debian/*.symbols), for
# a release, or where a change is meant; cmake/release.sh wants them complete.
set -eu
build=$1/.. source=$2 lists=$2/tests/abi
[[ ${3-} == --update ]] && update=1 || update=
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
if nm -D "$build/lib/libpugmark.so" | grep -q -e __asan -e __tsan; then
  echo "skipped: a sanitizer build has symbols of its own"
  exit 77
fi
fail() { echo "$*" >&2; failed=1; }
failed=

nm -D --defined-only "$build/lib/libpugmark.so" | awk '{sub(/@.*/, "", $3); print $3}' | sort -u >"$work/exported"
# the headers without comments, as one text
for header in $(find "$source/include" -name '*.h' | sort); do
  cpp -fpreprocessed -dD -P "$header" 2>/dev/null
done >"$work/text"
grep -oE '\bpug_[a-z0-9_]+ *\([^*]' "$work/text" | sed 's/ *(.$//' | sort -u >"$work/named"
tr '\n' ' ' <"$work/text" | grep -oE '(static inline|typedef)[^;{]*[;{]' | grep -oE '\bpug_[a-z0-9_]+ *\(' |
  tr -d ' (' | sort -u >"$work/no_symbols"
comm -23 "$work/named" "$work/no_symbols" >"$work/declared"
# what inline functions call is declared, or inline, too
for name in $(comm -13 "$work/declared" "$work/exported"); do fail "exported, but not public: $name"; done
for name in $(comm -23 "$work/declared" "$work/exported"); do fail "declared, but not exported: $name"; done

nm -g --defined-only "$build/lib/libpugmark.a" 2>/dev/null | awk 'NF == 3 {print $3}' | grep -v '^pug_' >"$work/foreign" || true
while read -r name; do fail "in the static library without the prefix: $name"; done <"$work/foreign"

# Sizes of the structs that users see. Authors' are guarded by PUG_AUTHOR_ABI.
users() { (cd "$source/include" && find pugmark -name '*.h' ! -path '*/author/*' | sort); }
{
  echo '#include <stdio.h>'
  users | sed 's/.*/#include "&"/'
  echo 'int main(void) {'
  users | (cd "$source/include" && xargs sed -n 's/^struct \(pug_[a-z0-9_]*\) {.*/printf("%zu \1\\n", sizeof(struct \1));/p')
  echo '}'
} >"$work/sizes.c"
cc -std=c17 -I"$source/include" -o "$work/sizes" "$work/sizes.c"
"$work/sizes" | sort -k 2 >"$work/sizes.txt"

if [[ $update ]]; then
  # The symbols file of the Debian package: each name with the version that it came with.
  version=$("$source/cmake/version.sh") symbols=$(echo "$source"/debian/libpugmark*.symbols)
  {
    head -n 2 "$symbols"
    while read -r name; do
      grep -x " $name@Base .*" "$symbols" || echo " $name@Base $version~"
    done <"$work/exported"
  } >"$work/symbols"
  cp "$work/symbols" "$symbols"
  cp "$work/exported" "$lists/symbols.txt"
  cp "$work/sizes.txt" "$lists/structs.txt"
  exit 0
fi
for name in $(comm -23 "$lists/symbols.txt" "$work/exported"); do fail "not there any more: $name (if that is meant: make abi)"; done
while read -r size name; do
  now=$(awk -v name="$name" '$2 == name {print $1}' "$work/sizes.txt")
  [[ $now == "$size" ]] || fail "struct $name was $size bytes, and is ${now:-gone} (if that is meant: make abi)"
done <"$lists/structs.txt"

# Authors' headers that are not those of the last release have another number than they had.
number() { sed -n 's/^#define PUG_AUTHOR_ABI *//p'; }
release=$(git -C "$source" describe --tags --abbrev=0 2>/dev/null || true)
if [[ $release ]] && ! git -C "$source" diff --quiet "$release" -- include/pugmark/author; then
  was=$(git -C "$source" show "$release:include/pugmark/author/protocol.h" | number)
  [[ $was != $(number <"$source/include/pugmark/author/protocol.h") ]] ||
    fail "authors' headers are not those of $release: raise PUG_AUTHOR_ABI"
fi
[[ ! $failed ]]
