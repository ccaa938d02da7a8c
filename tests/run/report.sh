#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark report: one file without requests, whose numbers, read back in a real browser after clicks, are the profile's.
set -u
pugmark=$1/pugmark source=$2 demo=$2/examples/demo bad=0
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
fail() { echo "$*"; bad=1; }

"$pugmark" report --title 'a <script>alert(1)</script> "title"' --output "$work/report.html" "$demo" || fail "report: exit $?"
grep -qF '<script>alert' "$work/report.html" && fail "a title became markup"
grep -qE '(src|href)="?https?:' "$work/report.html" && fail "it asks for something elsewhere"
"$pugmark" profile --json --rows 1000000 "$demo" >"$work/table" || fail "profile --json: exit $?"
"$pugmark" profile --stacks --output "$work/saved" "$demo" 2>/dev/null || fail "profile: exit $?"
"$pugmark" report "$work/saved" >"$work/saved.html" || fail "report of a saved profile: exit $?"
bash "$source/tests/report/unpack.sh" "$work/saved.html" head | grep -q '"version": 2' || fail "no data in the report of a saved profile"
"$pugmark" report --output "$work/no/file" "$demo" 2>"$work/said"
[[ $? -eq 3 ]] && grep -q 'No such file' "$work/said" || fail "a page in no folder"
# A source that the snapshot names and does not describe.
cp -r "$demo" "$work/named"
sed -i 's/^\[source_buffers\]$/&\nETM_9=ETB_0/; s/^\[core_trace_sources\]$/&\ncpu_9=ETM_9/' "$work/named/trace.ini"
"$pugmark" report --quiet --output "$work/named.html" "$work/named" 2>"$work/said"
[[ $? -le 1 && -s $work/named.html ]] || fail "report of a source without a description: $(tail -1 "$work/said")"
((bad == 0)) || exit 1

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [[ -z $browser ]] || ! command -v node >/dev/null; then
    echo "skipped: reading the page back needs chromium and node"
    exit 77
fi
node "$source/tests/report/report.mjs" "$browser" "$work/report.html" "$work/table" ${PUG_PICTURES:+"$PUG_PICTURES"} || bad=1
exit $bad
