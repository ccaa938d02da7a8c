#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the SWO capture in this folder again, of events.txt.
#   make.sh PUGMARK
set -eu
pugmark=$(readlink -f "${1:?usage: make.sh PUGMARK}")
cd "$(dirname "$0")"
"$pugmark" record --protocol dwt --script events.txt --out . --force
rm -f recording.manifest
