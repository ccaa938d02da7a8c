#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each of the project's own captures as it is, and with one thing wrong: a word about the cause and an
# exit code for what is wrong, neither for what is right.
set -u
bin=$1 captures=$2/tests/captures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0 tried=0 copies=0

# A copy of a capture to spoil.
fresh() {
  it=$work/$((copies += 1))
  cp -r --no-preserve=mode "$captures/$1" "$it" && cd "$it" || exit 1
}

# ends NAME CODE PATTERN: pc and info of the copy end with this code, and say something like this.
ends() {
  one_ends pc "$@"
  one_ends info "$@"
}
one_ends() {
  local code=0 text line
  text=$("$bin/pugmark" "$1" "$it" 2>&1 >/dev/null) || code=$?
  shift
  tried=$((tried + 1))
  if [[ $2 == 0 ]]; then
    [[ $code == 0 && $text != *"something is wrong"* ]] && return
  elif [[ $code == "$2" ]]; then
    while IFS= read -r line; do [[ $line =~ ^\ \ \*\ .*($3) ]] && return; done <<<"$text"
  fi
  echo "$1: expected '$3' and $2, got $code and '$text'"
  bad=1
}

# Moves memory by a number of bytes.
move() {
  local lines line
  for file in *.ini; do
    mapfile -t lines <"$file"
    for line in "${lines[@]}"; do
      [[ $line == address=* ]] && printf 'address=0x%x\n' $((${line#address=} + $1)) || printf '%s\n' "$line"
    done >"$file"
  done
}

# Halves the lengths of memory.
halve() {
  local lines line
  for file in *.ini; do
    mapfile -t lines <"$file"
    for line in "${lines[@]}"; do
      [[ $line == length=* ]] && printf 'length=0x%x\n' $((${line#length=} / 2 & ~15)) || printf '%s\n' "$line"
    done >"$file"
  done
}

# Another build of the program: a quarter on, 8 bytes are missing.
rebuild() {
  local size
  for file in memory_*.bin; do
    size=$(stat -c %s "$file")
    { head -c $((size / 4 & ~7)) "$file"; tail -c +$(((size / 4 & ~7) + 9)) "$file"; head -c 8 /dev/zero; } >"$file.new"
    mv "$file.new" "$file"
  done
}

each_trace() { for file in trace*.bin; do "$@"; done; }
# shellcheck disable=SC2317
cut_off() { local size; size=$(stat -c %s "$file") && truncate -s $((size / 2 / 16 * 16 + 5)) "$file"; }
# shellcheck disable=SC2317
replace() { cp "$1" "$file"; }

mismatch='the program does not match the trace|addresses that no file or dump has'
unread='no place in them where|there are no bytes for|nothing could be decoded|of its .* bytes only|bad packets?,|bytes were skipped'

# The capture; settings that are wrong for it; another protocol's capture, and what its bytes look like; the setting that
# is right, where that one alone is wrong and costs more than a few packets.
while read -r name widths other looks right; do
  fresh "$name"; ends "$name" 0 ""
  fresh "$name"; sed -i -E 's/^((TRC|ETM)TRACEIDR[^=]*)=.*/\1=0x6f/; s/^(srcid|src_id)=.*/\1=13/' ./*.ini
  ends "$name, another id" 1 "there are no bytes for source 0x(6f|0d)( and the others asked for)?; ids in this trace: 0x[0-9a-f]+ \([0-9,]+ bytes\)"
  fresh "$name"; move 0x40; ends "$name, moved a little" 1 "$mismatch"
  fresh "$name"; move 0x100000; ends "$name, moved far" 1 "$mismatch"
  fresh "$name"; rebuild; ends "$name, another version" 1 "$mismatch"
  fresh "$name"; halve; ends "$name, half a program" 1 "addresses that no file or dump has"
  fresh "$name"; each_trace replace /dev/null
  ends "$name, empty" 1 "the trace is empty"
  fresh "$name"; each_trace replace memory_0.bin; ends "$name, the program as trace" 1 "$unread"
  fresh "$name"; sed -i -E "s/$widths/" ./*.ini; ends "$name, wrong widths" 1 "$unread|$mismatch"
  [[ -z $right ]] || ends "$name, the right width" 1 "(it fits|its packets are right) with --set (trace_[0-9]:)?$right \("
  fresh "$name"; each_trace replace "$captures/$other/trace.bin"
  ends "$name, the bytes of $other" 1 "(looks like|are right with).*$looks"
  [[ $name == *trace* ]] && continue
  fresh "$name"; each_trace cut_off; ends "$name, cut off" 1 "the trace ends inside a packet or frame"
done <<'END'
ete-a64 ^(TRCIDR2[^=]*)=.*/\1=0x30001008 ntrace-rv64 N-Trace TRCIDR2=0x30001088
ete-a64-loss ^(TRCIDR2[^=]*)=.*/\1=0x30001008 ptm-arm PTM TRCIDR2=0x30001088
etmv4-a64 ^(TRCIDR2[^=]*)=.*/\1=0x30001008 etrace-rv64 E-Trace TRCIDR2=0x30001088
etmv4-a64-cycles ^(TRCIDR2[^=]*)=.*/\1=0x30001008 etmv3-arm ETMV3
etmv4-arm ^(TRCIDR2[^=]*)=.*/\1=0x30001008 ntrace-rv32 N-Trace TRCIDR2=0x30001088
etmv3-arm ^(ETMCR[^=]*)=.*/\1=0x1000 etmv4-a64 ETMV4I
etmv3-arm-cycles ^(ETMCR[^=]*)=.*/\1=0x0 ptm-arm PTM ETMCR=0xc000
ptm-arm ^(ETMCR[^=]*)=.*/\1=0x1000 etrace-rv32 E-Trace
ptm-arm-cycles ^(ETMCR[^=]*)=.*/\1=0x0 etmv4-a64 ETMV4I
etrace-rv32 ^iaddress_width_p=.*/iaddress_width_p=16 etmv4-a64 ETMV4I iaddress_width_p=32
etrace-rv64 ^iaddress_width_p=.*/iaddress_width_p=24 ptm-arm PTM
ntrace-rv32 ^src_bits=.*/src_bits=7 etmv4-arm ETMV4I src_bits=4
ntrace-rv64 ^src_bits=.*/src_bits=1 etmv3-arm ETMV3 src_bits=4
ntrace-rv64-btm ^src_bits=.*/src_bits=0 etmv4-a64 ETMV4I src_bits=4
END

# A loss of trace on its way is not blamed on a setting, but reported.
fresh ete-a64-loss
"$bin/pugmark" pc . 2>&1 >/dev/null | grep -q 'trace was lost on its way [0-9]* times.*decoding went on behind it' ||
  { echo "losses are not reported"; bad=1; }

# The same is said by commands that decode in ways of their own, once.
fresh etmv4-a64
move 0x100000
for command in pc list calls stat trace "timeline -o $work/out" "profile -o $work/profile" "report -o $work/page" \
  "list --by-time" "calls --by-time" "pc --by-thread"; do
  code=0
  # shellcheck disable=SC2086
  text=$("$bin/pugmark" $command . 2>&1 >/dev/null) || code=$?
  [[ $code == 1 && $(grep -c 'something is wrong' <<<"$text") == 1 ]] && grep -qE "$mismatch" <<<"$text" && continue
  echo "$command: $code, '$text'"
  bad=1
done
[[ $tried -ge 280 ]] || { echo "only $tried runs"; bad=1; }
exit $bad
