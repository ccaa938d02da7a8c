#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# debian.sh FOLDER: Debian's own programs for other processors, unpacked below FOLDER/SET (a64, t32, rv64);
# nothing is installed. Needs apt-get and its server; 77: they are not there. What is there already stays.
set -u
out=$(mkdir -p "$1" && cd "$1" && pwd)
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || exit 77
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -r $keys ]] || exit 77

common='busybox bash perl-base sqlite3 libsqlite3-0 libc6 libtinfo6 libcrypt1 zlib1g libexpat1 libgcc-s1'
# fetch SET ARCHITECTURE SUITE PACKAGES...
fetch() {
  local set=$1 arch=$2 suite=$3 apt=$out/$1.apt options
  shift 3
  [[ -e $out/$set/complete ]] && return 0
  rm -rf "${out:?}/$set" "$apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
  echo "deb [signed-by=$keys] http://deb.debian.org/debian $suite main" >"$apt/sources.list"
  : >"$apt/status"
  options=(-q -q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State=$apt" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
    -o "APT::Architecture=$arch" -o "APT::Architectures::=$arch" -o Acquire::Languages=none
    -o APT::Sandbox::User=root)
  # shellcheck disable=SC2086
  apt-get "${options[@]}" update && (cd "$apt/debs" && apt-get "${options[@]}" download $common "$@") || return 77
  mkdir -p "$out/$set/usr/lib" "$out/$set/usr/bin"
  # Since trixie these are links, which packages other than base-files do not bring.
  [[ $suite == bookworm ]] || ln -s usr/lib "$out/$set/lib"
  for package in "$apt"/debs/*.deb; do dpkg-deb -x "$package" "$out/$set" || return 77; done
  rm -rf "$apt"
  touch "$out/$set/complete"
}
fetch a64 arm64 bookworm python3.11-minimal libpython3.11-minimal libreadline8 luajit libluajit-5.1-2 &&
  fetch t32 armhf bookworm python3.11-minimal libpython3.11-minimal libreadline8 luajit libluajit-5.1-2 &&
  fetch rv64 riscv64 trixie python3.13-minimal libpython3.13-minimal libreadline8t64
