#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The reference's lister on recorded snapshots, where it has no known defect: the same path as ours, range by
# range. Left out: speculation, Q elements and source addresses, which Debian's reference takes wrong or not.
set -eu
bin=$1 source=$2
reference=${PUG_REFERENCE_LISTER:-/usr/bin/trc_pkt_lister}
[[ -x $reference ]] || { echo "there is no reference: Debian has it in libopencsd-bin"; exit 77; }
command -v qemu-arm >/dev/null && command -v qemu-aarch64 >/dev/null || { echo "there is no qemu-user here"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
"$source/tests/truth/build.sh" "$work/programs" plain.{a64,t32} || exit $?
cd "$work"

# ranges LISTER OUT: what ran, as far as both words agree
ranges() {
  rm -f log
  timeout 60 "$1" -ss_dir snapshot -decode -no_time_print -logfilename log >/dev/null 2>&1 || return 1
  grep -o 'INSTR_RANGE(exec range=[^ ]* num_i([0-9]*) last_sz([0-9]*) (ISA=[A-Za-z0-9]*) [EN] ' log >"$2"
}

same=0
for set in a64 t32; do
  "$bin/pugmark" record --quiet --path $set.path -- programs/plain.$set 1 >/dev/null
  for protocol in etmv4 ete $([[ $set == a64 ]] || echo etmv3 ptm); do
    for options in '--calls on --sync 700' '--set cycles=1 --loss 10'; do
      # shellcheck disable=SC2086
      "$bin/pugmark" record --quiet --from $set.path --protocol "$protocol" --out snapshot --limit 15000 $options
      ranges "$reference" theirs || { echo "the reference fails: $set $protocol $options"; exit 1; }
      ranges "$bin/trc_pkt_lister" ours
      [[ -s ours ]] && cmp theirs ours || { echo "$set $protocol $options"; exit 1; }
      same=$((same + 1))
      rm -rf snapshot
    done
  done
done
[[ $same == 12 ]]
