#!/bin/sh
# SPDX-License-Identifier: MIT
# debian-mirror.sh: print the address that this machine's apt takes Debian's release from, for what makes roots of its own.
# DEBIAN_MIRROR in the environment wins.
set -eu
[ -z "${DEBIAN_MIRROR-}" ] || { echo "$DEBIAN_MIRROR"; exit 0; }
# shellcheck disable=SC1091
. /etc/os-release
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
  awk -v release="$VERSION_CODENAME" '$2 == release && $3 == "main" { print $1; exit }')
[ -n "$mirror" ] || { echo "debian-mirror.sh: no mirror of $VERSION_CODENAME main in apt's sources; set DEBIAN_MIRROR" >&2; exit 1; }
echo "$mirror"
