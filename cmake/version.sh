#!/bin/sh
# SPDX-License-Identifier: MIT
# version.sh: print the version, which include/pugmark/pugmark.h says.
sed -n 's/^#define PUG_VERSION_\(MAJOR\|MINOR\|PATCH\) *//p' "$(dirname "$0")/../include/pugmark/pugmark.h" | paste -sd.
