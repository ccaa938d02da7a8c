#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# minimise.sh [MOST]: builds a new corpus from the old one and what run.sh found: of inputs of at most MOST bytes (2048) the
# fewest and shortest that reach as much.
set -eu
most=${1:-2048} here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build/fuzz
for target in "$build"/bin/fuzz_*; do
    name=${target##*/}
    new=$build/minimised/$name
    rm -rf "$new"
    kept=$build/kept/$name
    mkdir -p "$new" "$build/corpus/$name" "$build/seeds/$name" "$here/corpus"
    "$here/unpack.sh" "$name" "$kept"
    if ! "$target" -merge=1 -max_len="$most" -timeout=60 "$new" "$kept" "$build/corpus/$name" "$build/seeds/$name" >"$build/$name.merge" 2>&1; then
        echo "$name: stays as it is: $build/$name.merge"
        continue
    fi
    find "$kept" -type f -name '*-*' -exec cp {} "$new" \; # what found something has a name
    tar -C "$new" --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -c . | gzip -9n >"$here/corpus/$name.tgz"
    echo "$name: $(find "$new" -type f | wc -l) inputs, $(stat -c %s "$here/corpus/$name.tgz") bytes"
done
