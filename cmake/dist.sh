#!/bin/sh
# SPDX-License-Identifier: MIT
# dist.sh FOLDER: the source tarball FOLDER/pugmark-VERSION.tar.gz of what git has staged or committed. The same files give the same
# bytes: names are sorted, and every time is SOURCE_DATE_EPOCH, or the last commit's. Files are taken from the working tree.
set -eu
cd "$(dirname "$0")/.."
folder=${1:?usage: dist.sh FOLDER}
git rev-parse --git-dir >/dev/null 2>&1 || { echo "dist.sh: this is no git repository; the tarball is made from one" >&2; exit 1; }
name=pugmark-$(cmake/version.sh)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
mkdir -p "$folder"
git ls-files -z | LC_ALL=C sort -z |
  tar --null --no-recursion --files-from=- --transform "s,^,$name/,S" --format=ustar --mtime="@$epoch" \
    --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX,go-w -cf - | gzip -9n >"$folder/$name.tar.gz.new"
mv "$folder/$name.tar.gz.new" "$folder/$name.tar.gz"
echo "$folder/$name.tar.gz"
