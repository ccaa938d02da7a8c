#!/bin/sh
# SPDX-License-Identifier: MIT
# root.sh ARCHITECTURE FOLDER: what another host has: its libc and the libraries that the tests link, from Debian,
# unpacked into FOLDER. apt works with lists of its own there, so this machine's packages stay as they are.
set -eu
architecture=$1
[ ! -e "$2/complete" ] || exit 0
mkdir -p "$2/apt/lists/partial" "$2/apt/archives/partial"
root=$(cd "$2" && pwd)
# shellcheck disable=SC1091
. /etc/os-release
key=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$key] $("$(dirname "$0")/../debian-mirror.sh") $VERSION_CODENAME main" >"$root/apt/sources.list"
apt() {
  apt-get -qq -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" \
    -o "Dir::State=$root/apt" -o Dir::State::status=/dev/null -o "Dir::Cache=$root/apt" \
    -o "Dir::Etc::sourcelist=$root/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o APT::Sandbox::User=root "$@"
}
apt update
apt install -y --no-install-recommends --download-only \
  libc6-dev libelf-dev libdw-dev libbz2-dev liblzma-dev libyaml-dev zlib1g-dev libzstd-dev libcmocka-dev >/dev/null
for package in "$root"/apt/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
find "$root" -type l -lname '/*' | while read -r link; do ln -sfr "$root$(readlink "$link")" "$link"; done
rm -rf "$root/apt"
touch "$root/complete"
