#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Inside another project, by add_subdirectory and FetchContent: only the library and the command are built; the project's own targets get
# no flags, tests or install rules of ours, and its options stay as they were.
set -u
source=$(cd "$2" && pwd) bad=0
wrong() { echo "$*"; bad=1; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
echo 'int main(void) { return 0; }' >"$work/own.c"
cp "$source/examples/functions.c" "$work/user.c"
for way in add_subdirectory FetchContent; do
  mkdir "$work/$way"
  cp "$work"/*.c "$work/$way"
  {
    echo "cmake_minimum_required(VERSION 3.22)"
    echo "project(user C)"
    if [[ $way == add_subdirectory ]]; then
      echo "add_subdirectory($source pugmark EXCLUDE_FROM_ALL)"
    else
      echo "include(FetchContent)"
      echo "FetchContent_Declare(pugmark SOURCE_DIR $source)"
      echo "FetchContent_MakeAvailable(pugmark)"
    fi
    echo "add_executable(own own.c)"
    echo "add_executable(user user.c)"
    echo "target_link_libraries(user PRIVATE pugmark::pugmark)"
    echo "install(TARGETS own DESTINATION bin)"
    echo 'file(WRITE ${CMAKE_BINARY_DIR}/seen "${CMAKE_C_STANDARD};${CMAKE_BUILD_TYPE};${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")'
  } >"$work/$way/CMakeLists.txt"
  cmake -G Ninja -S "$work/$way" -B "$work/$way/build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON >"$work/log" 2>&1 || {
    tail "$work/log"
    wrong "$way: does not configure"
    continue
  }
  cd "$work/$way/build" || exit 1
  [[ $(<seen) == ";;" ]] || wrong "$way: variables of the project are $(<seen)"
  leaked=$(grep -oE '^[A-Z][A-Za-z0-9_]*' CMakeCache.txt | grep -E '^(BUILD_TESTING|PUG_.*:)' | head -n 3)
  [[ -z $leaked ]] || wrong "$way: options $leaked"
  ! grep '"command"' compile_commands.json | grep -F "/own.c" | grep -E -- '-W|_POSIX_C_SOURCE|-std=' || wrong "$way: flags of ours"
  ! grep '"command"' compile_commands.json | grep -F "/user.c" | grep -E -- '-Wall|_POSIX_C_SOURCE|PUG_WITH' || wrong "$way: flags of ours for a client"
  built=$(grep -c '"file"' compile_commands.json)
  ! grep '"file"' compile_commands.json | grep -E "$source/(tests|fuzz|bench|compat|examples)/" | head -n 2 | grep . || wrong "$way: more than library and command"
  ((built > 200)) || wrong "$way: only $built files"
  [[ -z $(ctest -N 2>/dev/null | grep 'Test *#') ]] || wrong "$way: tests of ours"
  ninja own >/dev/null && cmake --install . --prefix "$work/$way/usr" >/dev/null || wrong "$way: does not install"
  [[ $(cd "$work/$way/usr" && find . -type f) == ./bin/own ]] || wrong "$way: installs $(cd "$work/$way/usr" && find . -type f | head -n 3)"
done
exit $bad
