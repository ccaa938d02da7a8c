#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# coverage.sh [PATH...]: how much of each source file the corpora reach, and each protocol's folder by the corpora of its own
# targets, of which 90 % of the lines are wanted (exit code 1). Needs the preset coverage to be built. With PATHs only these, below src/.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build/coverage
version=$(clang -dumpversion)
tool() { command -v "llvm-$1-${version%%.*}" || command -v "llvm-$1"; }
profdata=$(tool profdata) cov=$(tool cov)
rm -rf "$build/profiles"
mkdir -p "$build/profiles"
objects=()
for target in "$build"/bin/fuzz_*; do
    name=${target##*/}
    [[ -e $here/corpus/$name.tgz ]] || continue
    "$here/unpack.sh" "$name" "$build/corpus"
    LLVM_PROFILE_FILE=$build/profiles/$name.raw "$target" "$build/corpus" >/dev/null 2>&1 || echo "$name: ended before its corpus did"
    "$profdata" merge -sparse "$build/profiles/$name.raw" -o "$build/profiles/$name.data"
    objects+=(-object "$target")
done
report() { # PATTERN: lines, those missed, and the file, for the targets that match. (Compilers' caches leave paths with "..".)
    "$profdata" merge -sparse "$build"/profiles/$1.data -o "$build/profiles/some"
    "$cov" report -instr-profile="$build/profiles/some" "${objects[@]:1}" 2>/dev/null |
        awk 'NR > 2 && NF > 9 && $1 != "TOTAL" { print $8, $9, $1 }'
}
lines() { # PATTERN FOLDER: lines reached in a folder by the targets that match
    report "$1" | awk -v what="$2" 'index($3, "src/" what "/") { all += $1; missed += $2 }
        END { reached = 100 - 100 * missed / all
              printf "%-28s %6.2f%% of %d lines%s\n", what, reached, all, reached < 90 ? ": below 90" : ""
              exit reached < 90 }' || below=1
}
below=0
lines 'fuzz_trace_et[em]*4_*' protocol/etmv4
lines 'fuzz_trace_etmv3*' protocol/etmv3
lines 'fuzz_trace_ptm*' protocol/ptm
lines 'fuzz_trace_etrace*' protocol/etrace
lines 'fuzz_trace_ntrace*' protocol/ntrace
lines 'fuzz_trace_stm*' protocol/stm
lines 'fuzz_trace_[id][tw][mt]*' protocol/itm
lines 'fuzz_trace_osd*' protocol/osd_ctm
lines 'fuzz_trace_osd*' protocol/osd_stm
lines 'fuzz_trace_mtb*' protocol/mtb
echo
report '*' | awk -v below="$*" 'BEGIN { split(below, paths) }
    {
        wanted = below == ""
        for (i in paths)
            wanted = wanted || index($3, "src/" paths[i]) == 1
    }
    wanted { printf "%6.2f%% of %6d lines  %s\n", 100 - 100 * $2 / $1, $1, $3 }'
exit $below
