#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The lister's listings of real captures, compared with the reference's.
#   golden.sh BIN SOURCE
# Skipped (77) without the captures beside the source folder. PUG_GOLDEN: cases to run, a regex.
set -u
bin=${1:?usage: golden.sh BIN SOURCE} source=${2:?usage: golden.sh BIN SOURCE}
check=$source/../shared/check/golden
if [[ ! -x $check ]]; then
    echo "skipped: no captures at $source/../shared"
    exit 77
fi
exec "$check" "$bin/trc_pkt_lister" "$source/../shared" "${PUG_GOLDEN:-.}"
