#!/bin/sh
# SPDX-License-Identifier: MIT
# dist-wrap.sh FOLDER: write FOLDER/pugmark.wrap, by which a project of meson takes the tarball that lies in FOLDER. The wrap goes into
# the project's subprojects/, the tarball into subprojects/packagecache/ (or give the wrap a source_url); then in meson.build:
#     pugmark = import('cmake').subproject('pugmark').dependency('pugmark')
set -eu
version=$("$(dirname "$0")/version.sh")
tarball=pugmark-$version.tar.gz
cat >"$1/pugmark.wrap" <<END
[wrap-file]
directory = pugmark-$version
source_filename = $tarball
source_hash = $(sha256sum "$1/$tarball" | cut -d ' ' -f 1)
END
echo "$1/pugmark.wrap"
