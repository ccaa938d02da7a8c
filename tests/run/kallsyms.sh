#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A kernel's list of symbols names what a snapshot's memory holds, in each view; all dumps share it. A list that is not
# there is reported.
set -eu
bin=$1 source=$2
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
fail() { echo "kallsyms: $1"; exit 1; }
capture=$source/tests/captures/ptm-arm
printf '%s\n' '00020100 T _stext' '00020680 t sort_them' '000207dc T visit	[module]' '00020b74 W hash' '00000000 T hidden' 'nonsense' \
  >"$work/kallsyms"
for view in profile 'calls --summary' 'trace --before hash'; do
  # shellcheck disable=SC2086
  "$bin/pugmark" $view "$capture" --kallsyms "$work/kallsyms" >"$work/said" 2>"$work/wrong" || fail "$view: $(cat "$work/wrong")"
  grep -qE '\<hash\>' "$work/said" || fail "$view has no names"
done
"$bin/pugmark" profile "$capture" --kallsyms "$work/kallsyms" | grep -E '^40\.28 % +100706 .* hash +memory_0.bin$' >/dev/null ||
  fail "the profile has other functions"
"$bin/pugmark" profile "$capture" --kallsyms "$work/missing" 2>&1 >/dev/null | grep -q "missing: there are no symbols: No such file" ||
  fail "a list that is missing is not reported"
