#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# path-without.sh FOLDER PATTERN...: for each folder of the PATH one below FOLDER, with links to its programs but
# for those whose names fit a pattern. Prints these folders as a PATH.
set -eu
folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder"
folder=$(readlink -f "$folder")
IFS=: read -ra places <<<"$PATH"
path= number=0
for place in "${places[@]}"; do
  [[ -d $place ]] || continue
  mkdir "$folder/$((++number))"
  programs=()
  for program in "$place"/*; do
    [[ ! -f $program || ! -x $program ]] || programs+=("$program")
  done
  ((${#programs[@]} == 0)) || ln -s -t "$folder/$number" "${programs[@]}"
  for pattern in "$@"; do find "$folder/$number" -type l -name "$pattern" -delete; done
  path+=${path:+:}$folder/$number
done
echo "$path"
