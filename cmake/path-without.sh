#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# path-without.sh FOLDER PATTERN...: links in FOLDER to every program on the PATH but those whose names fit a
# pattern; prints FOLDER, which then is a PATH without them.
set -eu
folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder"
IFS=: read -ra places <<<"$PATH"
for place in "${places[@]}"; do
  [[ -d $place ]] && find -L "$place" -maxdepth 1 -type f -executable -exec ln -s -t "$folder" {} + 2>/dev/null || true
done
for pattern in "$@"; do find "$folder" -mindepth 1 -name "$pattern" -delete; done
readlink -f "$folder"
