#!/bin/sh
# SPDX-License-Identifier: MIT
# install-packages.sh LIST [demo]: install what is missing of the Debian packages in LIST; of those that
# the demonstration needs.
set -eu
missing=
last='$'
[ "${2-}" = demo ] && last='/^# ----/'
for package in $(sed -n "1,${last}s/^\([a-z0-9+.-]*\):.*/\1/p" "$1"); do
  dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing"
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing
