#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# book_pages.sh BIN SOURCE: the book becomes pages without a warning, and its search answers from file:// in Chromium.
set -eu
bin=$1 source=$2
sphinx=$(command -v sphinx-build) || { echo "skipped: there is no sphinx-build"; exit 77; }
python=$(sed -n '1s/^#! *//p' "$sphinx")
$python -c 'import myst_parser, furo' 2>/dev/null || { echo "skipped: there is no myst_parser, or no furo"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
"$source/cmake/book.sh" "$bin/.." "$work/html" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
[[ ! -s $work/said ]] || { cat "$work/said"; exit 1; }
# Nothing comes from the network.
if grep -rlE '(src|href)="(https?:)?//[^"]*\.(js|css|woff2?)"' "$work/html" --include='*.html' | grep .; then
  echo "pages ask the network"
  exit 1
fi
browser=$(command -v chromium || command -v chromium-browser) || { echo "there is no chromium: the search was not tried"; exit 77; }
# WORDS PAGE: what is asked, and a page that must be among the answers.
while read -r page words; do
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --virtual-time-budget=20000 --dump-dom \
    "file://$work/html/search.html?q=${words// /+}" >"$work/found" 2>/dev/null || true
  grep -q "href=\"[^\"]*$page" "$work/found" || { echo "searching '$words' does not find $page"; exit 1; }
done <<'END'
have/swo/jlink.html J-Link
reference/messages.html option-value
have/mtb.html crash dump
END
