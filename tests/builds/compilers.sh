#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compilers.sh [NAME...]: build with each compiler and in each way that must not warn, one after another, in build/compilers/NAME.
# Without NAME: all. A compiler that is missing is reported, and fails the run at its end. `compilers.sh --list` prints the names.
#   gcc-11 gcc-12 clang-13 clang-14 clang-15 clang-16 clang-19   library, commands, tests and fuzz targets
#   pedantic    -std=c17 -Wpedantic with gcc
#   lto         library and commands with link-time optimization
#   hidden      everything compiled with -fvisibility=hidden; the shared library still exports its interface
#   musl        library, commands and fuzz targets with musl-gcc, without what needs other libraries; compared with the usual build
#   unlike      the stand-in for macOS: no Linux, and every question of CMake about compiler, linker and system is answered with no
#   analyzer    the library with gcc's -fanalyzer, once; what it says is in build/compilers/analyzer.log, to be read
#   cxx20       each public header in a C++20 program
set -u
cd "$(dirname "$0")/../.." || exit 1
all=(gcc-11 gcc-12 clang-13 clang-14 clang-15 clang-16 clang-19 pedantic lto hidden musl unlike analyzer cxx20)
[[ ${1-} != --list ]] || { printf '%s\n' "${all[@]}"; exit 0; }
[[ $# -gt 0 ]] || set -- "${all[@]}"
without=(-DPUG_ELF=OFF -DPUG_DWARF=OFF -DPUG_LLVM=OFF -DPUG_ZSTD=OFF -DPUG_ZLIB=OFF -DPUG_LZMA=OFF -DPUG_YAML=OFF -DPUG_ZIP=OFF
  -DPUG_MPI=OFF -DPUG_PYTHON=OFF)
mkdir -p build/compilers
bad=()

# Configure and build NAME with CMake's options; false where that fails or warns.
build() {
  local name=$1 folder=build/compilers/$1
  shift
  cmake -G Ninja -S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DPUG_WERROR=OFF -DPUG_TESTS_TOGETHER=ON -DPUG_PYTHON=OFF \
    -DPUG_MPI=OFF "$@" >"$folder.log" 2>&1 && cmake --build "$folder" -- --quiet >>"$folder.log" 2>&1 || return 1
  ! grep -E '(^|[: ])(warning|error)[: ]' "$folder.log" | grep -v "^Preset\|using 'dlopen'\|statically linked" | head -n 5 | grep .
}

for name; do
  compiler=gcc
  case $name in
    gcc-* | clang-*) compiler=$name ;;
    musl) compiler=musl-gcc ;;
    cxx20) compiler=g++ ;;
  esac
  if ! command -v "$compiler" >/dev/null; then
    echo "$name: $compiler is not installed"
    bad+=("$name")
    continue
  fi
  good=true
  case $name in
    gcc-*) build "$name" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS_RELEASE='-O2 -DNDEBUG' || good=false ;;
    clang-*) build "$name" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_C_FLAGS_RELEASE='-O0 -DNDEBUG' || good=false ;;
    pedantic) build "$name" -DCMAKE_C_COMPILER=gcc -DCMAKE_C_FLAGS='-std=c17 -pedantic' -DCMAKE_C_FLAGS_RELEASE='-O0 -DNDEBUG -Wno-maybe-uninitialized' || good=false ;;
    lto) build "$name" -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DPUG_TESTS=OFF -DPUG_FUZZ=OFF || good=false ;;
    hidden)
      build "$name" -DCMAKE_C_FLAGS=-fvisibility=hidden -DCMAKE_C_VISIBILITY_PRESET=hidden -DPUG_TESTS=OFF -DPUG_FUZZ=OFF \
        -DCMAKE_C_FLAGS_RELEASE='-O0 -DNDEBUG -Wno-maybe-uninitialized' && bash tests/run/abi.sh build/compilers/hidden/bin . || good=false
      ;;
    musl)
      build "$name" -DCMAKE_C_COMPILER=musl-gcc "${without[@]}" -DPUG_TESTS=OFF -DCMAKE_C_FLAGS_RELEASE='-O1 -DNDEBUG' &&
        tests/hosts/compare.sh build/release/bin build/compilers/musl/bin . examples/demo tests/captures/ptm-arm &&
        bash tests/run/fuzz.sh "$PWD/build/compilers/musl/bin" "$PWD" || good=false
      ;;
    unlike)
      build "$name" "${without[@]}" -DCMAKE_C_FLAGS=-U__linux__ -DCMAKE_C_FLAGS_RELEASE='-O0 -DNDEBUG -Wno-maybe-uninitialized' -DPUG_FUZZ=OFF \
        -DPUG_HAS_INTERPOSITION_FLAG=OFF -DPUG_HAS_VERSION_SCRIPT=OFF -DPUG_HAS_SYMBOLIC_FUNCTIONS=OFF -DPUG_HAS_MEMFD=OFF \
        -DPUG_UNIT_TESTS='capture|tree|image|elf.*|live.*|map|profile|snapshot|perf_containers|names' &&
        tests/hosts/compare.sh build/release/bin build/compilers/unlike/bin . examples/demo tests/captures/ptm-arm &&
        ctest --test-dir build/compilers/unlike -R '^test_' -E _shared --output-on-failure || good=false
      ;;
    analyzer)
      good=true
      build "$name" -DCMAKE_C_FLAGS=-fanalyzer -DPUG_TESTS=OFF -DPUG_FUZZ=OFF >/dev/null || grep -q 'Wanalyzer' "build/compilers/$name.log" || good=false
      grep -oE '\[-Wanalyzer-[a-z-]*\]' "build/compilers/$name.log" | sort | uniq -c
      ;;
    cxx20)
      mkdir -p build/compilers/cxx20
      for header in $(cd include && find pugmark -name '*.h' | sort); do
        printf '#include <%s>\nint main()\n{\n    return 0;\n}\n' "$header" >build/compilers/cxx20/client.cpp
        g++ -std=c++20 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only build/compilers/cxx20/client.cpp || good=false
      done
      ;;
    *)
      echo "$name: unknown; --list prints the names"
      good=false
      ;;
  esac
  if $good; then echo "$name: no warnings"; else
    echo "$name: see build/compilers/$name.log"
    bad+=("$name")
  fi
done
[[ ${#bad[@]} -eq 0 ]] || { echo "not clean: ${bad[*]}"; exit 1; }
