#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A few bytes of input that stand for gigabytes: what commands hold stays small, the output is whole and the same for any number
# of threads, and what a byte may stand for is a setting.
set -u
bin=$1 bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# Sanitizers reserve more than there is.
limit=200000 threads_limit=1000000
grep -qE '__asan_init|__tsan_init' "$bin/pugmark" && limit=unlimited threads_limit=unlimited

wrong() { echo "$*"; bad=1; }
within() { (ulimit -v $limit && exec timeout 120 "$@"); }

# A loop of two instructions, and messages (ResourceFull) of 31 branches that repeat so often.
printf '\x01\x00\x7d\xfd' >loop.bin
ntrace() { # HREPEAT-BYTES MESSAGES
    printf '\x24\x0d\x00\x83'
    for ((i = 0; i < $2; i++)); do printf '\x6c\xc8\xfc\xfc\xfc\xfc\xfd'"$1"; done
}
program=(--protocol ntrace --image loop.bin@0x1000)

# Two messages, 2 * 16384 * 31 ranges: some 90 MB of text.
ntrace '\x00\x00\x13' 2 >few.nex
lines=$(within "$bin/pugmark" list --quiet "${program[@]}" few.nex | grep -c INSTR_RANGE)
[[ $lines == 1015808 ]] || wrong "list: $lines ranges of a few bytes"
lines=$(within "$bin/pugmark" pc --quiet "${program[@]}" few.nex | wc -l)
[[ $lines == 2031616 ]] || wrong "pc: $lines addresses of a few bytes"

# The same by threads: pieces that are much larger than what may be held.
ntrace '\x13' 30000 >many.nex
for command in "list --type INSTR_RANGE" pc "list --format csv"; do
    want=$(within "$bin/pugmark" $command --quiet --jobs 1 "${program[@]}" many.nex | head -c 60000000 | cksum)
    for jobs in 2 5; do
        got=$(limit=$threads_limit within "$bin/pugmark" $command --quiet --jobs $jobs "${program[@]}" many.nex | head -c 60000000 | cksum)
        [[ $got == "$want" ]] || wrong "$command: $jobs threads give something else"
    done
done

# What a byte may stand for.
within "$bin/pugmark" list --expansion 1000 "${program[@]}" few.nex >out 2>said
code=$?
((code == 1)) || wrong "--expansion: exit $code"
(($(grep -c INSTR_RANGE out) <= 80000)) || wrong "--expansion: $(grep -c INSTR_RANGE out) ranges"
grep -q 'one message covers too much code' said || wrong "--expansion: no message: $(head -n 1 said)"
"$bin/pugmark" list --expansion 0 "${program[@]}" few.nex >out 2>said && wrong "--expansion 0 was taken"
exit $bad
