#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The version is the same wherever it is said: include/pugmark/pugmark.h is the one place.
set -u
bin=$1 source=$2 build=$1/.. bad=0
wrong() { echo "$*"; bad=1; }
version=$("$source/cmake/version.sh")
short=${version%.*}
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || wrong "cmake/version.sh: '$version'"
[[ $("$bin/pugmark" --version) == "pugmark $version ("* ]] || wrong "pugmark --version: not $version"
grep -q "^Version: $version\$" "$build/pugmark.pc" || wrong "pugmark.pc: not $version"
grep -q "set(PACKAGE_VERSION \"$version\")" "$build/pugmark-config-version.cmake" || wrong "CMake's package: not $version"
if [[ -e $build/lib/libpugmark.so ]]; then
  soname=$(readelf -d "$build/lib/libpugmark.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
  [[ $soname == "libpugmark.so.$short" ]] || wrong "soname $soname"
fi
# The packages are named after the soname.
cd "$source" || exit 1
grep -q "^Package: libpugmark$short\$" debian/control || wrong "debian/control: no package libpugmark$short"
for file in install symbols; do [[ -e debian/libpugmark$short.$file ]] || wrong "no debian/libpugmark$short.$file"; done
head -n 1 "debian/libpugmark$short.symbols" | grep -q "^libpugmark.so.$short libpugmark$short " || wrong "debian/libpugmark$short.symbols: another library"
[[ $(head -n 1 debian/changelog) == "pugmark ($version) "* ]] || wrong "debian/changelog: not $version"
grep -m 1 '^## ' CHANGELOG.md | grep -qF "[$version]" || wrong "CHANGELOG.md: not $version"
[[ -e docs/release-$version.md ]] || wrong "no docs/release-$version.md"
grep -qF "pugmark.so.$short" docs/book/library/versions.md || wrong "docs/book/library/versions.md: not $short"

# For programs.
"$bin/pugmark" --version --json >"${TMPDIR:-/tmp}/version.$$" || wrong "--version --json: exit $?"
python3 - "$version" "${TMPDIR:-/tmp}/version.$$" <<'END' || wrong "--version --json"
import json, sys
said = json.load(open(sys.argv[2]))
assert said["version"] == sys.argv[1], said
assert "threads" in said["features"] and "elf" in said["features"], said
assert not set(said["features"]) & set(said["without"]), said
assert isinstance(said["author_abi"], int) and {"landlock", "disassembler"} <= said.keys(), said
END
rm -f "${TMPDIR:-/tmp}/version.$$"
exit $bad
