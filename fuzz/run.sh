#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh SECONDS: every target, with libFuzzer, for so long in all, from the corpus and from inputs of its own. What is new
# is in build/fuzz/corpus/TARGET, what was found in build/fuzz/found. Needs the presets release and fuzz to be built.
set -u
seconds=$1 here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build/fuzz plain=$here/../build/release/bin bad=0
mkdir -p "$build/found"
targets=("$build"/bin/fuzz_*)
each=$((seconds * $(nproc) / ${#targets[@]}))
one() {
    local target=$1 name=${1##*/}
    mkdir -p "$build/corpus/$name" "$build/seeds/$name"
    "$here/unpack.sh" "$name" "$build/kept/$name"
    "$plain/$name" 100 "$RANDOM" "$build/seeds/$name" >/dev/null 2>&1 || true # what ends it here is tried below
    "$target" -max_total_time="$each" -timeout=60 -rss_limit_mb=2048 -max_len=8192 -verbosity=0 -print_final_stats=1 \
        -artifact_prefix="$build/found/$name-" "$build/corpus/$name" "$build/kept/$name" "$build/seeds/$name" >"$build/$name.log" 2>&1
    local code=$?
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$name.log") inputs$([[ $code == 0 ]] || echo ", FOUND SOMETHING: $build/$name.log")"
    return $code
}
export -f one
export build here plain each
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'one {}' || bad=1
exit $bad
