#!/bin/sh
# SPDX-License-Identifier: MIT
# build.sh FOLDER [VERSION]: the Debian packages in FOLDER, from the source tarball, without tests. Another VERSION than the change
# log's is for trying upgrades.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
version=$(cmake/version.sh)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
rm -rf "${folder:?}/pugmark-$version"
tar -xzf "$(cmake/dist.sh "$folder/source")" -C "$folder"
cd "$folder/pugmark-$version"
[ -z "${2-}" ] || sed -i "1s/([^)]*)/($2)/" debian/changelog
DEB_BUILD_OPTIONS="nocheck parallel=2 ${DEB_BUILD_OPTIONS-}" dpkg-buildpackage -us -uc -b >"$folder/build.log" 2>&1 || {
  tail -n 30 "$folder/build.log"
  exit 1
}
