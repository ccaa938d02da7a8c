#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The bundled capture gives back the path that was recorded, and the demonstration runs.
set -eu
bin=$1 source=$2
"$bin/pugmark" pc "$source/examples/demo" | cmp - "$source/examples/demo/path.txt"
"$source/cmake/demo.sh" "$bin/.." >/dev/null
# A reader that goes away is no error.
"$bin/pugmark" pc "$source/examples/demo" | head -n 1 >/dev/null
[[ ${PIPESTATUS[0]} == 0 ]]
