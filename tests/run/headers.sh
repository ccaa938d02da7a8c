#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header says what it needs: alone it is C99, C17 and C++17, to the letter.
set -eu
source=$2
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
shopt -s globstar
failed=
count=0
for header in "$source"/include/pugmark/**/*.h; do # each is a unit of its own
  count=$((count + 1))
  for ending in c cpp; do echo "#include <${header#"$source/include/"}>" >"$work/$count.$ending"; done
done
[[ $count -gt 40 ]] || { echo "only $count headers"; exit 1; }
# Everyday headers bring no advanced ones along; what stood there until 0.3 forwards by one line.
if grep -l '#include "pugmark/advanced/' "$source"/include/pugmark/*.h | grep -v '/advanced\.h$' | xargs -r grep -L 'where it was until 0.3' | grep .; then
  echo "these everyday headers include advanced ones"
  exit 1
fi
check() { # compiler, ending, options
  local files=("$work"/*."$2") file
  command -v "$1" >/dev/null || return 0
  checked="${checked-} $1"
  if [[ $1 == clang* ]]; then # reads all of them, one after the other, in one process
    for file in "${files[@]:1}"; do files+=(-Xclang "$file"); done
    files=("${files[0]}" "${files[@]:count}")
  fi
  "$1" "${@:3}" -pedantic-errors -Wall -Wextra -Werror -I"$source/include" -fsyntax-only "${files[@]}" || {
    echo "$*" >&2
    failed=1
  }
}
for c in cc clang; do
  check "$c" c -std=c99
  check "$c" c -std=c17
done
for cxx in c++ clang++; do check "$cxx" cpp -std=c++17; done
echo "checked by${checked-}"
[[ ! $failed ]]
