#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the programs and libraries are linked with: what comes with libdw, as far as the build has it, and nothing else. Without
# options that is libc alone. No file says where it was built, and none looks for libraries in folders of its own.
set -u
bin=$1 build=$1/.. bad=0
wrong() { echo "$*"; bad=1; }
if grep -qaE "__asan_init|__tsan_init" "$bin/pugmark"; then
  echo "skipped: a sanitizer build needs more"
  exit 77
fi
[[ ! -e $build/foreign ]] || { echo "skipped: programs of another host"; exit 77; }
features=" $("$bin/pugmark" --version | sed -n '1s/.*(\(.*\))/\1/p') "
allowed='^(libc\.so\.6|ld-linux[^ ]*|libpthread\.so\.0|libdl\.so\.2)$'
[[ $features != *" dwarf "* ]] || allowed+='|^libdw\.so\.1$|^libelf\.so\.1$'
[[ $features != *" zlib "* ]] || allowed+='|^libz\.so\.1$'
[[ $features != *" lzma "* ]] || allowed+='|^liblzma\.so\.5$'
grep -qs 'PUG_ELF:BOOL=ON' "$build/CMakeCache.txt" && allowed+='|^libelf\.so\.1$'
looked=0
for file in "$bin/pugmark" "$bin/trc_pkt_lister" "$build"/lib/lib*.so "$build"/python/pugmark/*.so; do
  [[ -e $file ]] || continue
  looked=$((looked + 1))
  own=$allowed
  extra=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE "$own")
  [[ -z $extra ]] || wrong "${file##*/} is linked with $extra; its build has:$features"
done
((looked >= 3)) || wrong "only $looked files"

# What is installed does not say where it was built.
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cmake --install "$build" --prefix "$work/usr" --strip >/dev/null || wrong "cmake --install fails"
installed=0
while IFS= read -r file; do
  installed=$((installed + 1))
  ! readelf -d "$file" 2>/dev/null | grep -qE 'RPATH|RUNPATH' || wrong "${file#"$work/"} looks for libraries in a folder of its own"
done < <(find "$work/usr" -type f \( -path '*/bin/*' -o -name '*.so*' \))
((installed >= 3)) || wrong "only $installed programs and libraries are installed"
source=$(cd "$2" && pwd)
grep -rlF -e "$source" -e "$(cd "$build" && pwd)" "$work/usr" --exclude='*.a' && wrong "these files say where they were built"
exit $bad
