#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# unpack.sh TARGET FOLDER: the target's corpus into a new folder, which is empty where there is none.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$2"
mkdir -p "$2"
[[ ! -e $here/corpus/$1.tgz ]] || tar -C "$2" -xzf "$here/corpus/$1.tgz"
