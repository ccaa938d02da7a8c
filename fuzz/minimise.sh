#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# minimise.sh [MOST]: the corpus made anew from itself and what run.sh found: of inputs of at most MOST bytes (2048) the
# fewest and shortest that reach as much.
set -eu
most=${1:-2048} here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build/fuzz
for target in "$build"/bin/fuzz_*; do
    name=${target##*/}
    new=$build/minimised/$name
    rm -rf "$new"
    mkdir -p "$new" "$build/corpus/$name" "$build/seeds/$name" "$here/corpus/$name"
    "$target" -merge=1 -max_len="$most" -timeout=20 "$new" "$here/corpus/$name" "$build/corpus/$name" "$build/seeds/$name" >"$build/$name.merge" 2>&1
    rm -rf "${here:?}/corpus/$name"
    cp -r "$new" "$here/corpus/$name"
    echo "$name: $(find "$here/corpus/$name" -type f | wc -l) inputs, $(du -sb "$here/corpus/$name" | cut -f1) bytes"
done
