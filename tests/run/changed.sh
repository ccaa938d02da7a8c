#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Captures whose program or settings were changed by a bit: a word and, for a contradiction, exit code 1. The
# same captures unchanged: neither. What passes unnoticed, and why: docs/book/limits/diagnosis.md.
#   changed.sh BIN SOURCE
set -u
pugmark=$1/pugmark captures=$2/tests/captures bad=0 tried=0
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1

fresh() { rm -rf changed && cp -r "$captures/$1" changed && chmod -R u+w changed; }
# says CODE PATTERN NAME: pc ends with this code, and standard error has this; with 1 and 8 threads alike.
says() {
  local jobs code text
  for jobs in 1 8; do
    code=0
    text=$("$pugmark" pc --jobs "$jobs" changed 2>&1 >/dev/null) || code=$?
    tried=$((tried + 1))
    [[ $code == "$1" ]] && { [[ -z $2 && -z $text ]] || { [[ -n $2 ]] && grep -qE "$2" <<<"$text"; }; } && continue
    echo "$3, --jobs $jobs: expected $1 and '$2', got $code and '$text'"
    bad=1
  done
}
# put ADDRESS BEFORE AFTER: bytes of the program.
put() {
  perl -e 'my ($address, $before, $after) = @ARGV;
    my ($file, $start);
    for (glob "changed/*.ini") {
      open my $ini, "<", $_ or die;
      my $text = join "", <$ini>;
      while ($text =~ /file=(\S+)\naddress=(\S+)\nlength=(\S+)/g) {
        ($file, $start) = ("changed/$1", hex $2) if hex $2 <= hex $address && hex $address < hex($2) + hex $3;
      }
    }
    open my $image, "+<", $file or die;
    seek $image, hex($address) - $start, 0;
    read $image, my $got, length($before) / 2;
    die "at $address there is " . unpack("H*", $got) . "\n" unless $got eq pack "H*", $before;
    seek $image, hex($address) - $start, 0;
    print $image pack "H*", $after' "$@" || bad=1
}

for name in etmv4-a64 etmv4-a64-broadcast etmv4-a64-cycles etmv4-arm ete-a64 ptm-arm etmv3-arm etrace-rv64 ntrace-rv64; do
  fresh "$name"; says 0 '' "$name, unchanged"
done

# ---- trace ids: one of several sources is missing ----
for name in etmv4-a64:TRCTRACEIDR etmv4-arm:TRCTRACEIDR ptm-arm:ETMTRACEIDR; do
  for device in 0 1; do
    fresh "${name%:*}"
    sed -i -E "s/^(${name#*:}[^=]*)=.*/\1=0x55/" changed/trace_$device.ini
    says 1 "source.* 0x55: the trace has no byte of (it|them), and [0-9,]+ bytes of id 0x1$device, .* look like" "$name, another id"
  done
done

# ---- TRCIDR8: elements wait for a commit that never comes ----
for name in etmv4-a64 etmv4-arm ete-a64; do
  for value in 0x1 0x40 0x80000000; do
    fresh "$name"
    sed -i -E "s/^(TRCIDR8[^=]*)=.*/\1=$value/" changed/trace_0.ini
    says 1 'TRACE_INFO says that 0 elements wait for a commit, and with TRCIDR8=0x' "$name, TRCIDR8=$value"
  done
done

# ---- instructions: a range counts wherever it is in a short trace ----
undefined='instructions ran whose encoding is undefined'
fresh etmv4-a64-broadcast; put 210974 c0035fd6 c0235fd6; says 0 "$undefined \\(.*address 0x210974: d65f23c0\\)" "ret became undefined"
fresh etmv4-a64-cycles; put 210758 e6ffff17 e6ffff07; says 0 "$undefined \\(.*address 0x210758: 07ffffe6\\)" "b became undefined"
fresh etrace-rv64; put 11b58 1b894506 1f894506; says 0 "$undefined \\(.*address 0x11b58: 0645891f\\)" "addiw became undefined"
mismatch='the program does not match the trace: [0-9,]+ contradictions? in'
fresh etmv4-a64-broadcast; put 2105cc dd000094 dd000090; says 1 "$mismatch.*a call returned to before itself" "bl became adrp"
fresh etmv3-arm; put 20722 c007 c047; says 1 "$mismatch.*an indirect branch has no target in the trace" "lsls became blx"
fresh etmv3-arm; put 206b0 02e0 42e0; says 1 "$mismatch" "b goes elsewhere"
fresh etmv4-a64-cycles; put 2106e8 04000014 14000014; says 1 "$mismatch" "b goes elsewhere, beyond the first 8 KB"
[[ $tried -gt 50 ]] || { echo "only $tried tried"; bad=1; }
exit $bad
