#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A bounded run of the fuzzers over every protocol and transport; the sanitizer build makes it sharp.
set -eu
"$1/fuzz_tree" 4000 1
"$1/fuzz_jobs" 2000 1
