#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# million.sh [COUNT [PROCESSES]]: the whole commands on COUNT damaged inputs (1000000), built with sanitizers, on as many processes
# (all processors). Goes on where it was ended: build/million/next has the next seed, build/million/found what was found.
# A process is forked for each batch of inputs, not for each input: hundreds a second on a processor.
# million.sh --seed SEED [lister]: one of them again, which stays in build/million/one.
# Needs the presets release and sanitize to be built.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/.." && pwd)
bin=$root/build/sanitize/bin plain=$root/build/release/bin build=$root/build/million
export ASAN_OPTIONS=exitcode=99:quarantine_size_mb=4:allocator_may_return_null=1 UBSAN_OPTIONS=exitcode=99:print_stacktrace=1
export PAGER=cat HOME=/nonexistent
step=1000

subjects() { # FOLDER: all captures of the project, and trace in other wrappings
    local folder=$1 capture
    rm -rf "$folder"
    mkdir -p "$folder"
    for capture in "$root"/tests/captures/*/ "$root"/examples/*/ "$root"/fuzz/captures/*/; do
        [[ -e $capture/snapshot.ini ]] && cp -r "$capture" "$folder/"
    done
    find "$folder" \( -name path -o -name '*.c' -o -name '*.sh' -o -name path.txt \) -delete
    raw() { # NAME OF WORDS…: the trace of a capture as a file, read with these words
        mkdir -p "$folder/$1"
        cp "$folder/$2"/*.bin "$folder/$1"
        echo "${*:3} trace.bin" >"$folder/$1/arguments"
    }
    raw raw-etrace etrace-rv64 --protocol etrace --set xlen=64 --image memory_0.bin@0x10000
    raw raw-nexus ntrace-rv64 --protocol ntrace --transport nexus --image memory_0.bin@0x10000
    raw raw-coresight etmv4-a64 --protocol etmv4i --transport coresight
    for transport in smi esp32 pulp raw orbflow; do
        raw raw-$transport etrace-rv32 --protocol etrace --transport $transport
    done
    raw raw-osd osd --protocol osd-stm --transport osd
    mkdir -p "$folder/perf"
    "$plain/pugmark" record --quiet --from "$root/tests/captures/etmv4-a64/path" --protocol etmv4 --limit 20000 --perf "$folder/perf/trace.perf.data"
    echo trace.perf.data >"$folder/perf/arguments"
    mkdir -p "$folder/params"
    cp "$folder/raw-etrace"/*.bin "$folder/params"
    echo "xlen = 64" >"$folder/params/trace.params"
    echo "--protocol etrace --params trace.params trace.bin" >"$folder/params/arguments"
}

batch() { # FROM: both commands, one share for the lister
    local from=$1 folder
    folder=$(mktemp -d)
    cp -r "$build/subjects" "$folder/"
    "$build/bin/million_pugmark" "$folder/subjects" "$from" $((step * 4 / 5)) >>"$build/found.$from" 2>&1 || true
    rm -rf "$folder/subjects/"{raw-,perf,params}*
    "$build/bin/million_trc_pkt_lister" "$folder/subjects" $((from + step * 4 / 5)) $((step / 5)) >>"$build/found.$from" 2>&1 || true
    rm -rf "$folder"
}

mkdir -p "$build"
if [[ ${1-} == --seed ]]; then
    rm -rf "$build/one"
    subjects "$build/one"
    [[ ${3-} == lister ]] && rm -rf "$build/one/"{raw-,perf,params}*
    exec "$bin/million_$([[ ${3-} == lister ]] && echo trc_pkt_lister || echo pugmark)" "$build/one" "$2"
fi
count=${1:-1000000} processes=${2:-$(nproc)}
[[ -d $build/subjects ]] || subjects "$build/subjects"
mkdir -p "$build/bin"
cp "$bin"/million_* "$build/bin" # who builds meanwhile does not disturb it
next=$(cat "$build/next" 2>/dev/null || echo 0)
while ((next < count)); do
    for ((i = 0; i < processes; i++)); do batch $((next + i * step)) & done
    wait
    for ((i = 0; i < processes; i++)); do
        grep -qE '^[0-9]+ of [0-9]+;' "$build/found.$((next + i * step))" || echo "a batch ended by itself: $((next + i * step))" >>"$build/found"
        grep -vE '^[0-9]+ of [0-9]+;' "$build/found.$((next + i * step))" >>"$build/found" || true
        grep -hE '^[0-9]+ of [0-9]+;' "$build/found.$((next + i * step))" >>"$build/counts"
        rm "$build/found.$((next + i * step))"
    done
    next=$((next + processes * step))
    echo $next >"$build/next.new"
    mv "$build/next.new" "$build/next"
done
awk '{runs += $4; threaded += $6} END {print runs + 0 " runs, " threaded + 0 " of them on several threads"}' "$build/counts"
echo "$next inputs, $(grep -c '^seed ' "$build/found" 2>/dev/null || echo 0) findings"
