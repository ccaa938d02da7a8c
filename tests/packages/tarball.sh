#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tarball.sh: the source tarball builds, tests and installs without git, gives the same archive by CPack as by cmake --install, and is
# used by a project of meson.
set -eu
cd "$(dirname "$0")/../.."
version=$(cmake/version.sh)
work=$PWD/build/tarball
rm -rf "$work"
mkdir -p "$work/path" "$work/meson/subprojects/packagecache"
cmake/dist.sh "$work" >/dev/null
cmake/dist-wrap.sh "$work" >/dev/null
printf '#!/bin/sh\necho "git is not there" >&2\nexit 99\n' >"$work/path/git"
chmod +x "$work/path/git"
PATH=$work/path:$PATH
tar -xzf "$work/pugmark-$version.tar.gz" -C "$work"
cd "$work/pugmark-$version"
step() { echo "tarball: $*"; }
quiet() { "$@" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; echo "tarball: $* failed"; exit 1; }; }
quiet cmake --preset release -DCMAKE_INSTALL_PREFIX=/usr
quiet cmake --build --preset release -- --quiet
step "builds"
quiet ctest --preset release -j2 ${TARBALL_TESTS:--R '^(test_|run_(version|needed|install|examples|usage|lister|abi)$)' -E _shared}
step "tests: $(grep 'tests passed' "$work/log")"
DESTDIR=$work/root quiet cmake --install build/release
(cd build/release && quiet cpack -G TGZ)
mkdir "$work/archive"
tar -xzf build/release/pugmark-*.tar.gz --strip-components=1 -C "$work/archive"
diff <(cd "$work/root/usr" && find . ! -type d | sort) <(cd "$work/archive" && find . ! -type d | sort)
step "cmake --install and CPack install the same $(find "$work/archive" ! -type d | wc -l) files"

cd "$work/meson"
cp "$work/pugmark.wrap" subprojects/
cp "$work/pugmark-$version.tar.gz" subprojects/packagecache/
cp "$work/pugmark-$version/examples/functions.c" .
cat >meson.build <<'END'
project('user', 'c', default_options: ['c_std=c17'])
pugmark = import('cmake').subproject('pugmark').dependency('pugmark')
executable('user', 'functions.c', dependencies: pugmark)
END
quiet meson setup build
quiet meson compile -C build user
./build/user "$work/pugmark-$version/examples/demo" >"$work/said"
"$work/pugmark-$version/build/release/bin/example_functions" "$work/pugmark-$version/examples/demo" | cmp - "$work/said"
step "a project of meson uses it"
rm -rf "$work"
