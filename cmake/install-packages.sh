#!/bin/sh
# SPDX-License-Identifier: MIT
# install-packages.sh LIST [demo|hosts|packages|compilers]: install what is missing of the Debian packages in LIST: what building and
# testing needs; what the demonstration needs; what other hosts need, too; and also what packages and releases, or many compilers, need.
# Says first which, and what for.
set -eu
missing=
last='/^# ---- other hosts/'
[ "${2-}" != demo ] || last='/^# ----/'
[ "${2-}" != hosts ] || last='/^# ---- packages/'
[ "${2-}" != packages ] || last='/^# ---- compilers/'
[ "${2-}" != compilers ] || last='$'
for package in $(sed -n "1,${last}s/^\([a-z0-9+.-]*\):.*/\1/p" "$1"); do
  dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "These Debian packages are missing and will be installed with apt-get:"
for package in $missing; do grep "^$package:" "$1" | sed 's/^/  /'; done
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing
