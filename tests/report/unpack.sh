#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# unpack.sh PAGE [PART]: the data of a report, or one part of them, as JSON, a line each.
set -eu -o pipefail
sed -nE 's/^<script type="[^"]*" id="part-([^"]*)" data-form="([^"]*)">(.*)<\/script>$/\1 \2 \3/p' "$1" |
  while read -r name form text; do
    [[ -z ${2-} || $name == "$2" ]] || continue
    if [[ $form == gzip ]]; then
      base64 -d <<<"$text" | gzip -dc
    else
      printf '%s' "$text"
    fi
    echo
  done
