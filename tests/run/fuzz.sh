#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A bounded run of the fuzzer over every protocol and transport; the sanitizer build makes it sharp.
set -eu
"$1/fuzz_tree" 4000 1
