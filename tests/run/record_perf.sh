#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `pugmark record --perf`: what is decoded of its perf.data is what ran, thread by thread, with buffers of
# threads and of processors; and stock perf, where it is there, sees the same.
set -eu
bin=$1 source=$2
command -v qemu-aarch64 >/dev/null && command -v qemu-arm >/dev/null ||
  { echo "there is no qemu-user here"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
"$source/tests/truth/build.sh" "$work/programs" mixture.{a64,t32} plain.rv64 || exit $?
cd "$work"
export HOME=$work PERF_CONFIG=/dev/null
perf=$(command -v "${PUG_PERF:-perf}" || true)

# check SET PROTOCOL OPTIONS...
check() {
  local set=$1 protocol=$2
  shift 2
  "$bin/pugmark" record --quiet --from "$set.path" --protocol "$protocol" --perf perf.data --path ran "$@"
  "$bin/pugmark" pc perf.data --verify ran >said || { echo "$set $protocol $*:"; cat said; exit 1; }
  grep -q 'of 4 threads' said || { echo "$set $protocol $*: $(cat said)"; exit 1; }
}

# Stock perf's path of each thread is ours, but for what it loses at the end of a stretch: where its decoder
# waits as the stretch's last byte is taken (perf 6.1), what one packet says. How many stretches there are is a
# matter of when threads met. So is, for processors' buffers, the order in which perf prints the segments of a thread that moved
# from one to another: its output is compared then, without the order.
check_perf() { # OPTIONS OF THE RECORDING...
  local order=(cat) stretches
  [[ " $* " != *" --by-cpu "* ]] || order=(sort)
  stretches=$("$perf" script -D -i perf.data 2>/dev/null | grep -c 'PERF_RECORD_AUX ')
  "$perf" script --itrace=i1i -F tid,ip -i perf.data 2>perf.said | awk '{ print $1, $2 }' | sort -n -s -k1,1 | "${order[@]}" >theirs
  "$bin/pugmark" pc --by-thread perf.data | "${order[@]}" >ours
  diff theirs ours >differ || true
  if grep -q '^<' differ || [[ $(wc -l <theirs) -lt $(($(wc -l <ours) - 2000 * stretches)) ]]; then
    echo "perf sees another path, $(wc -l <theirs) instructions of $(wc -l <ours), $(grep -c '^<' differ || true) of them others:"
    grep -m 5 '^<' differ || true
    head -5 differ perf.said
    exit 1
  fi
}

for set in a64 t32; do
  # shellcheck disable=SC2046
  "$bin/pugmark" record --quiet --path $set.path -- programs/mixture.$set 1 >/dev/null
  for protocol in etmv4 ete $([[ $set == a64 ]] || echo etmv3 ptm); do
    check $set "$protocol"
    check $set "$protocol" --by-cpu
    check $set "$protocol" --random 6 --loss 10 --calls on --buffer 1500 --by-cpu
  done
done

# Circular buffers keep the newest: what each thread did last, or each processor.
for set in a64 t32; do
  for protocol in etmv4 ete $([[ $set == a64 ]] || echo etmv3 ptm); do
    for how in '' --by-cpu '--random 4 --calls on'; do
      # shellcheck disable=SC2086
      "$bin/pugmark" record --quiet --from $set.path --protocol "$protocol" --perf perf.data --path ran \
        --snapshot-mode --buffer 6000 --sync 2000 $how
      "$bin/pugmark" pc perf.data --verify ran --tail >said || { echo "$set $protocol $how:"; cat said; exit 1; }
      # Of a processor's buffer not every thread is left.
      [[ $how == --by-cpu ]] && threads=[1-4] || threads=4
      grep -q "^equal: [0-9]*[0-9]\{4\} instructions of $threads thread" said || { echo "$set $protocol $how: $(cat said)"; exit 1; }
      [[ $(stat -c %s perf.data) -lt 60000 ]]
    done
  done
done

# Profiles and function names come of it as of any perf.data.
"$bin/pugmark" record --quiet --from a64.path --protocol etmv4 --perf perf.data
"$bin/pugmark" profile perf.data >profile
grep -q ackermann profile

if [[ $perf ]] && ldd "$(readlink -f "$perf")" 2>/dev/null | grep -q libopencsd; then
  for protocol in etmv4 ete; do
    for how in '' '--by-cpu --buffer 3000'; do
      # shellcheck disable=SC2086
      check a64 $protocol $how
      # shellcheck disable=SC2086
      check_perf $how
    done
    "$bin/pugmark" record --quiet --from a64.path --protocol $protocol --perf perf.data --snapshot-mode --buffer 6000 --sync 2000
    check_perf
  done
  "$perf" report --header-only -i perf.data | grep -q 'arch : aarch64'
fi

refuses() { # words, options...
  local words=$1
  shift
  ! "$bin/pugmark" record --from a64.path "$@" 2>said || { echo "taken: $*"; exit 1; }
  grep -q -e "$words" said || { echo "expected '$words':"; cat said; exit 1; }
}
refuses 'needs a --buffer' --protocol etmv4 --perf x --snapshot-mode
refuses 'or --perf' --protocol etmv4 --perf x --out y
refuses 'context ids' --protocol etmv4 --perf x --by-cpu --no-context
"$bin/pugmark" record --quiet --path rv64.path -- programs/plain.rv64 1 >/dev/null
if "$bin/pugmark" record --from rv64.path --protocol ntrace --perf x 2>said; then exit 1; fi
grep -q 'no trace of this kind' said
