# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# For scripts in tests/run, at their beginning: a temporary folder, $work or $tmp, which goes with the script.
work=$(mktemp -d)
tmp=$work
trap 'rm -rf "$work"' EXIT
