#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Output that cannot be written is never a success: every command and every help text to a full disk, and traces that are no
# files.
set -u
bin=$1 demo=$2/examples/demo bad=0
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
[[ -c /dev/full ]] || { echo "no /dev/full on this machine"; exit 77; }

full() { # EXIT-CODE PROGRAM ARGUMENTS…
    local want=$1 code
    shift
    timeout 20 "$bin/$1" "${@:2}" >/dev/full 2>"$work/said"
    code=$?
    ((code == want)) || { echo "$*: exit $code on a full disk, expected $want"; bad=1; }
    grep -q 'No space left' "$work/said" || { echo "$*: does not say why: $(head -n 1 "$work/said")"; bad=1; }
}

full 3 pugmark --help
full 3 pugmark --version
commands=$("$bin/pugmark" --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p')
[[ $commands == *list* && $commands == *pc* ]] || { echo "no list of commands"; exit 1; }
for command in $commands; do
    full 3 pugmark "$command" --help
done
for command in info list pc calls stat; do
    full 3 pugmark "$command" "$demo"
done
full 3 pugmark list --format jsonl --packets "$demo"
full 1 trc_pkt_lister -ss_dir "$demo" -decode -logstdout
timeout 20 "$bin/trc_pkt_lister" -ss_dir "$demo" -decode -logfilename /dev/full >/dev/null 2>"$work/said"
[[ $? -eq 1 ]] && grep -q 'No space left' "$work/said" || { echo "-logfilename /dev/full went unseen"; bad=1; }

# What is no file is no trace: neither waited for nor read for ever.
cp -r "$demo" "$work/demo"
sed -i 's|^file *=.*|file=none|' "$work/demo/trace.ini"
mkfifo "$work/demo/fifo"
for file in /dev/zero fifo .; do
    sed -i "s|^file=.*|file=$file|" "$work/demo/trace.ini"
    timeout 20 "$bin/trc_pkt_lister" -ss_dir "$work/demo" -decode -logstdout >"$work/said"
    (($? != 124)) && grep -q 'Unable to open trace buffer' "$work/said" || { echo "lister: $file was read as a trace"; bad=1; }
    timeout 20 "$bin/pugmark" list "$work/demo" >/dev/null 2>"$work/said"
    (($? == 3)) || { echo "list: $file was read as a trace"; bad=1; }
done
exit $bad
