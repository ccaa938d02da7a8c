#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header says what it needs: alone it is C99, C17 and C++17, to the letter.
set -eu
source=$2
failed=
check() { # compiler, options
  command -v "$1" >/dev/null || return 0
  checked="${checked-} $1"
  for header in $(cd "$source/include" && find pugmark -name '*.h'); do
    echo "#include <$header>" | "$@" -pedantic-errors -Wall -Wextra -Werror -I"$source/include" -fsyntax-only - || {
      echo "$*: $header" >&2
      failed=1
    }
  done
}
for c in cc clang; do
  check "$c" -x c -std=c99
  check "$c" -x c -std=c17
done
for cxx in c++ clang++; do check "$cxx" -x c++ -std=c++17; done
echo "checked by${checked-}"
[[ ! $failed ]]
