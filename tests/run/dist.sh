#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The source tarball: the same bytes twice, what git has and nothing else, and it configures without git. (`make dist-check` builds,
# tests and installs it.)
set -u
source=$2 bad=0
wrong() { echo "$*"; bad=1; }
git -C "$source" rev-parse --git-dir >/dev/null 2>&1 || { echo "skipped: a tarball is made from a git repository"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
version=$("$source/cmake/version.sh") name=pugmark-$("$source/cmake/version.sh")
"$source/cmake/dist.sh" "$work/one" >/dev/null || wrong "dist.sh: exit $?"
(umask 077 && cd / && "$source/cmake/dist.sh" "$work/two" >/dev/null)
cmp "$work/one/$name.tar.gz" "$work/two/$name.tar.gz" || wrong "two tarballs differ"
SOURCE_DATE_EPOCH=1 "$source/cmake/dist.sh" "$work/three" >/dev/null
tar -xzf "$work/three/$name.tar.gz" -C "$work"
[[ $(stat -c %Y "$work/$name/README.md") == 1 ]] || wrong "SOURCE_DATE_EPOCH does not say the time of files"
diff <(git -C "$source" ls-files | sort) <(cd "$work/$name" && find . ! -type d | sed 's|^\./||' | sort) >/dev/null ||
  wrong "the tarball does not have the files that git has"
mkdir "$work/path"
printf '#!/bin/sh\nexit 99\n' >"$work/path/git"
chmod +x "$work/path/git"
PATH=$work/path:$PATH cmake -S "$work/$name" -B "$work/build" -G Ninja -DPUG_MPI=OFF >"$work/log" 2>&1 || { tail "$work/log"; wrong "it does not configure"; }
grep -q "CMAKE_PROJECT_VERSION:STATIC=$version" "$work/build/CMakeCache.txt" || wrong "its version is another"
exit $bad
