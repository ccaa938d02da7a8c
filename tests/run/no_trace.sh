#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nothing decoded is never success: every command that reads a capture, on captures without trace and
# on captures of which nothing can be decoded.
#   no_trace.sh BIN SOURCE
set -u
pugmark=$1/pugmark source=$2
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
bad=0

# What --help lists, so that a new command is tried, too. These read no capture, or (convert, live) no file of one:
commands=$("$pugmark" --help | perl -ne 'print "$1\n" if /^  ([a-z]+) /' | grep -vxE 'convert|encode|explain|help|live|merge|record|snapshot')
[[ $(wc -l <<<"$commands") -ge 14 ]] || { echo "no list of commands"; exit 1; }

# variants COMMAND: the ways in which it is called, a line each.
variants() {
  case $1 in
    find) echo "find --sync" ;;
    report) echo "report -o page.html" ;;
    diff) echo "diff $capture" ;;
    list) printf 'list\nlist --packets\nlist --format jsonl\n' ;;
    pc) printf 'pc\npc --by-thread\n' ;;
    profile) printf 'profile\nprofile --format folded\nprofile --format brstack\n' ;;
    threads) echo "threads --rtos flow" ;;
    index) echo "index --output made.pugindex --rebuild" ;;
    *) echo "$1" ;;
  esac
}

# ends CODES PATTERN CAPTURE OPTIONS...: every command ends with one of these codes, and says this.
ends() {
  local codes=$1 pattern=$2 capture=$3 command code wanted
  shift 3
  while read -r command; do
    [[ " ${skip-} " == *" ${command%% *} "* ]] && continue
    wanted=$codes
    code=0
    # shellcheck disable=SC2086
    "$pugmark" $command "$@" "$capture" >out 2>said </dev/null || code=$?
    [[ $command == info ]] && wanted=1
    [[ $command == check ]] && wanted=2
    [[ " $wanted " == *" $code "* ]] && grep -qE "$pattern" said && continue
    echo "$command $* $capture: exit $code, not $wanted, and '$(head -n 2 said)', not '$pattern'"
    bad=1
  done < <(for command in $commands; do variants "$command"; done)
}

# A pipe's perf.data with one COMM record, as `perf record` writes it without -e cs_etm//.
perl -e 'print "PERFILE2", pack("Q<", 16), pack("L<S<S<L<L<a8", 3, 0, 24, 7, 7, "sleep")' >plain.data
ends 3 'no hardware trace in it; was it recorded with `-e cs_etm//`\?' plain.data
"$pugmark" info plain.data 2>&1 | grep -q 'pid 7 ' || { echo "info: not what the file holds"; bad=1; }

# Hardware trace of another machine: AUXTRACE_INFO of type 1 (Intel PT), and 64 bytes of it.
perl -e 'print "PERFILE2", pack("Q<", 16), pack("L<S<S<L<L<a8", 3, 0, 24, 7, 7, "sleep"),
  pack("L<S<S<L<L<Q<4", 70, 0, 48, 1, 0, 1 .. 4), pack("L<S<S<Q<3L<4", 71, 0, 48, 64, 0, 0, 0, 7, 0, 0), "\x02\x82" x 32' >other.data
ends 3 'nothing in it says how CoreSight was set up: its trace cannot be decoded' other.data

# Recorded with cs_etm, and cut off before the trace.
"$pugmark" record --quiet --from "$source/tests/captures/etmv4-a64/path" --protocol etmv4 --limit 5000 --perf good.data || exit 1
"$pugmark" list --packets --quiet good.data >out; [[ -s out ]] || { echo "the recording itself: no packets"; bad=1; }
cut=$(perl -0777 -ne 'print index($_, pack("L<S<S<", 71, 0, 48))' good.data) # AUXTRACE
head -c "$cut" good.data >cut.data
ends 3 'no hardware trace in it; was it recorded with `-e cs_etm//`\?' cut.data

# simpleperf's branch lists are counts: they have no elements.
perl "$source/tests/support/branch_list.pl" /nowhere/program 0c9a20bf9c009d0e4e8bbf9fad0300ae 1000:3:EEE >rows.data
skip="profile coverage report diff info" ends 3 'no hardware trace in it; branch lists stand in its place' rows.data
for command in profile "profile --format folded" "report -o page.html"; do
  # shellcheck disable=SC2086
  code=0
  "$pugmark" $command rows.data >out 2>said || code=$?
  [[ $code == 1 ]] && grep -q '3 executions are not counted, because the text' said ||
    { echo "$command of branch lists without programs: exit $code, '$(cat said)'"; bad=1; }
done

# Trace in which there is nothing: empty, zeros, of another source, of no trace at all.
empty() { : >"$1/trace.bin"; }
zeros() { head -c 4096 /dev/zero >"$1/trace.bin"; }
other() { sed -i 's/TRCTRACEIDR(0x010)=.*/TRCTRACEIDR(0x010)=0x00000011/' "$1/ETM_0.ini"; }
noise() { perl -e 'srand 5; print map { chr rand 256 } 1 .. 4096' >"$1/trace.bin"; }
for kind in empty zeros other noise; do
  cp -r "$source/examples/demo" "$kind"
  chmod -R u+w "$kind"
  "$kind" "$kind"
  ends "1 3" . "$kind"
  ends "1 3" . "$kind" --reference
done
# Noise has packets of E-Trace and N-Trace by chance: there are places for GDB to begin at. No other command takes it for trace.
perl -e 'srand 6; print map { chr rand 256 } 1 .. 20000' >noise.raw
skip="gdb"
ends "1 3" . noise.raw --protocol etrace --transport raw
ends "1 3" . noise.raw --protocol ntrace
skip=
# Software trace of no source: no ASYNC of an STM, no synchronisation packet of an ITM.
perl -e 'srand 5; print map { chr(1 + int rand 254) } 1 .. 4096' >noise.bin
for protocol in stm itm; do
  nothing='no place in them where|no source of program flow in it|no ITM in it|there is no such place'
  ends "1 3" "$nothing" noise.bin --protocol $protocol --transport plain
  ends "1 3" "$nothing" noise.bin --protocol $protocol --transport plain --reference
done
skip=
perl -0777 -pe 's/(\x47\x00\x00\x00\x00\x00\x30\x00)((?:.{40}))(.*?)(?=\x44\x00\x00\x00\x00\x00\x08\x00)/$1 . $2 . "\0" x length $3/se' good.data >zeros.data
ends "1 3" . zeros.data
exit $bad
