#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The shared library exports pug_ symbols and nothing else.
set -eu
lib=$1/../lib/libpugmark.so
[[ -f $lib ]] || { echo "skipped: no shared library in this build"; exit 77; }
other=$(nm -D --defined-only "$lib" | awk '$3 !~ /^pug_/ {print $3}')
[[ -z $other ]] || { echo "exported without pug_: $other"; exit 1; }
[[ $(nm -D --defined-only "$lib" | wc -l) -gt 50 ]]
