#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is installed can be used: through pkg-config and through the CMake package.
set -eu
build=$1/.. source=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
if nm -D "$build/lib/libpugmark.so" | grep -q __asan; then
  echo "skipped: a sanitizer build is not for installing"
  exit 77
fi
cmake --install "$build" --prefix "$tmp/usr" >/dev/null
export PKG_CONFIG_PATH=$tmp/usr/lib/pkgconfig:$(dirname "$(find "$tmp" -name pugmark.pc)")
libs=$(dirname "$(find "$tmp" -name libpugmark.so)")
for example in "$source"/examples/*.c; do
  # shellcheck disable=SC2046  # flags are words
  cc -std=c17 -o "$tmp/$(basename "$example" .c)" "$example" $(pkg-config --cflags --libs pugmark)
done
LD_LIBRARY_PATH=$libs "$tmp/external_protocol" | grep -q 'SWTRACE( (Ma:0x00; Ch:0x01) 0x2a; )'
[[ $(LD_LIBRARY_PATH=$libs "$tmp/functions" "$source/examples/demo") == *'[unknown]' ]]
# The archive needs what the library needs, by either way.
# shellcheck disable=SC2046
cc -std=c17 -o "$tmp/static" "$source/examples/functions.c" $(pkg-config --cflags --static --libs pugmark |
  sed "s|-lpugmark |$libs/libpugmark.a |")
[[ $("$tmp/static" "$source/examples/demo") == *'[unknown]' ]]
mkdir "$tmp/project"
languages=C
! command -v c++ >/dev/null || languages+=' CXX'
cat >"$tmp/project/CMakeLists.txt" <<C
cmake_minimum_required(VERSION 3.22)
project(user $languages)
find_package(pugmark REQUIRED)
find_package(pugmark REQUIRED) # as where a project's parts do
add_executable(user $source/examples/external_protocol.c)
target_link_libraries(user PRIVATE pugmark::pugmark)
add_executable(static $source/examples/functions.c)
target_link_libraries(static PRIVATE pugmark::pugmark_static)
if(CMAKE_CXX_COMPILER)
  add_executable(plus plus.cpp)
  target_link_libraries(plus PRIVATE pugmark::pugmark)
endif()
C
cat >"$tmp/project/plus.cpp" <<C
#include <cstring>
#include <pugmark/pugmark.h>
int main()
{
    return std::strcmp(pug_version(), PUG_VERSION);
}
C
cmake -S "$tmp/project" -B "$tmp/project/build" -DCMAKE_PREFIX_PATH="$tmp/usr" >/dev/null
cmake --build "$tmp/project/build" >/dev/null
"$tmp/project/build/user" >/dev/null
[[ $languages == C ]] || "$tmp/project/build/plus"
[[ $("$tmp/project/build/static" "$source/examples/demo") == *'[unknown]' ]]
# Components, and versions: another minor version is another library before 1.0.
mkdir "$tmp/ask"
asks() { # what find_package() is given; exit code of CMake
  printf 'cmake_minimum_required(VERSION 3.22)\nproject(ask C)\nfind_package(pugmark %s REQUIRED)\n%s\n' "$1" "${2-}" >"$tmp/ask/CMakeLists.txt"
  rm -rf "$tmp/ask/build"
  cmake -S "$tmp/ask" -B "$tmp/ask/build" -DCMAKE_PREFIX_PATH="$tmp/usr" >"$tmp/said" 2>&1
}
minor=$("$source/cmake/version.sh")
minor=${minor%.*}
dropin=$(find "$tmp/usr" -name pugmark-opencsd-targets.cmake)
asks "$minor COMPONENTS static shared${dropin:+ opencsd}" "${dropin:+get_target_property(x pugmark::opencsd_c_api LOCATION)}" || { cat "$tmp/said"; exit 1; }
for wrong in "${minor%.*}.$((${minor#*.} - 1))" "${minor%.*}.$((${minor#*.} + 1))" "$minor COMPONENTS other"; do
  ! asks "$wrong" || { echo "find_package(pugmark $wrong) finds it"; exit 1; }
done
rm "$(find "$tmp/usr" -name pugmark-static-targets.cmake)"
! asks "COMPONENTS static" && asks "COMPONENTS shared" || { echo "components are not kept apart"; exit 1; }
# The drop-in, too; it needs what the library needs, and is found from where the files that name it lie.
needed() { readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort; }
needed "$build/lib/libpugmark.so" >"$tmp/library"
needed "$build/lib/libopencsd_c_api.so" >"$tmp/dropin"
cmp "$tmp/library" "$tmp/dropin"
mv "$tmp/usr" "$tmp/moved"
dropin=$(find "$tmp/moved" -name libopencsd.pc)
for word in $(PKG_CONFIG_PATH=$(dirname "$dropin") pkg-config --cflags --libs libopencsd); do
  case $word in
    -I* | -L*) [[ ${word#-?} == "$tmp/moved/"* && -d ${word#-?} ]] || { echo "libopencsd.pc: $word"; exit 1; } ;;
  esac
done
ln -s "$tmp/moved/bin/pugmark-perf" "$tmp/perf"
for perf in "$build/bin/pugmark-perf" "$tmp/moved/bin/pugmark-perf" "$tmp/perf"; do
  PUGMARK_PERF=true "$perf" script 2>"$tmp/said" && ! grep -q 'is not there' "$tmp/said" || { echo "$perf:"; cat "$tmp/said"; exit 1; }
done
find "$tmp/moved" -name pugmark.1 | grep -q . || { echo "no man page"; exit 1; }
