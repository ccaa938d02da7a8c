#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dist-static.sh [x86_64] [aarch64] [windows]: portable programs in build/dist, each with licence, manual, README and examples. For
# Linux one statically linked pugmark; aarch64 is built with archives from a root of that architecture and tried under QEMU. For Windows
# a zip, tried under Wine.
set -eu
cd "$(dirname "$0")/.."
[[ $# -gt 0 ]] || set -- x86_64 aarch64 windows
version=$(cmake/version.sh)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH=$epoch
mkdir -p build/dist

build() { # PRESET
  cmake --preset "$1" >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
  # The linker's notes on dlopen and getaddrinfo of static programs are known.
  cmake --build --preset "$1" -- --quiet >"build/$1.log" 2>&1 || { tail -n 30 "build/$1.log"; exit 1; }
}

# What comes with a program: folder NAME in build/dist, with PROGRAM.
fill() { # NAME PROGRAM README
  local folder=build/dist/$1
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$2" LICENSE "$folder/"
  cp "docs/release-$version.md" "$folder/" 2>/dev/null || true
  for page in build/release/reference/pugmark*.1; do
    case $page in
      */pugmark-mpi.1 | */pugmark-perf.1) continue ;;
    esac
    page_text "$page" >"$folder/$(basename "$page" .1).txt"
  done
  cp -r examples "$folder/examples"
  rm "$folder/examples/CMakeLists.txt"
  printf '%s\n' "$3" >"$folder/README.txt"
  find "$folder" -exec touch -h -d "@$epoch" {} +
}
page_text() {
  if command -v mandoc >/dev/null; then mandoc -T utf8 "$1" | col -bx; else MANWIDTH=100 man -l "$1" | col -bx; fi
}
# A capture gives the same as with the usual build.
try() { # COMMAND…
  "$@" --version
  "$@" list examples/demo | cmp - <(build/release/bin/pugmark list examples/demo)
  "$@" calls examples/crash | cmp - <(build/release/bin/pugmark calls examples/crash)
}
archive() { # NAME
  (cd build/dist && find "$1" -print0 | LC_ALL=C sort -z | tar --null --no-recursion --files-from=- --format=ustar --owner=0 --group=0 \
    --numeric-owner --mode=u+rw,go=rX,go-w -cf - | gzip -9n >"$1.tar.gz")
}
without='Without: disassembled text (trace shows opcodes), trace folders of the CMSIS-Toolbox, sessions of sigrok, pugmark-mpi, perf'"'"'s drop-in,
and the plugin for `pugmark record` under QEMU. `pugmark --version` lists what is built in.'

for host; do
  name=pugmark-$version-linux-$host
  case $host in
    x86_64 | aarch64)
      preset=static
      run=()
      strip=strip
      if [[ $host == aarch64 && $(uname -m) != aarch64 ]]; then
        cmake/hosts/root.sh arm64 build/roots/arm64
        preset=static-arm64
        run=(qemu-aarch64)
        strip=aarch64-linux-gnu-strip
      fi
      build $preset
      program=build/$preset/bin/pugmark
      [[ ! -x build/$preset/foreign/pugmark ]] || program=build/$preset/foreign/pugmark
      mkdir -p build/$preset/stripped
      $strip -o build/$preset/stripped/pugmark "$program"
      if readelf -d "$program" | grep -q NEEDED; then echo "$program is not static"; exit 1; fi
      size=$(stat -c %s build/$preset/stripped/pugmark)
      try "${run[@]}" build/$preset/stripped/pugmark
      fill "$name" build/$preset/stripped/pugmark "Pugmark $version for Linux on $host: one program, $((size / 100000 / 10)).$((size / 100000 % 10)) MB, that needs nothing else.
$without
Names of hosts (tcp:HOST:PORT) are looked up only where glibc is installed; addresses work everywhere.

    ./pugmark report examples/crash -o page.html    a crash, instruction by instruction
    ./pugmark list examples/demo                    elements of a small trace
    ./pugmark --help                                commands; pugmark.txt is the manual"
      archive "$name"
      echo "build/dist/$name.tar.gz: $(stat -c %s "build/dist/$name.tar.gz") bytes, the program $size"
      ;;
    windows)
      name=pugmark-$version-windows-x86_64
      build windows
      program=build/windows/foreign/pugmark.exe
      [[ -e $program ]] || program=build/windows/bin/pugmark.exe
      mkdir -p build/windows/stripped
      x86_64-w64-mingw32-strip -o build/windows/stripped/pugmark.exe "$program"
      size=$(stat -c %s build/windows/stripped/pugmark.exe)
      if [[ -x build/windows/bin/pugmark ]]; then
        build/windows/bin/pugmark --version 2>/dev/null | tr -d '\r'
        build/windows/bin/pugmark list examples/demo 2>/dev/null | cmp - <(build/release/bin/pugmark list examples/demo)
      fi
      fill "$name" build/windows/stripped/pugmark.exe "Source lines are not shown on Windows: ELF files are read for code and function names only.
Pugmark $version for Windows, x86-64: one program, $((size / 100000 / 10)).$((size / 100000 % 10)) MB, that needs nothing else.
Without also: record, encode, disassembled text, compressed perf.data, trace folders of the CMSIS-Toolbox, sessions of sigrok.
\`pugmark --version\` lists what is built in.

    pugmark report examples/crash -o page.html    a crash, instruction by instruction
    pugmark list examples/demo                    elements of a small trace
    pugmark --help                                commands; pugmark.txt is the manual"
      sed -i 's/$/\r/' "build/dist/$name"/*.txt
      touch -d "@$epoch" "build/dist/$name"/*.txt
      rm -f "build/dist/$name.zip"
      (cd build/dist && find "$name" | LC_ALL=C sort | TZ=UTC zip -qX9@ "$name.zip")
      echo "build/dist/$name.zip: $(stat -c %s "build/dist/$name.zip") bytes, the program $size"
      ;;
    *)
      echo "dist-static.sh: $host: it is x86_64, aarch64 or windows"
      exit 2
      ;;
  esac
done
