#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The lister's own behaviour, on the demo capture: where its output goes, exit codes, what it says
# of wrong options, and that blocks, filters and sessions are framed as they should be.
#   lister.sh BIN SOURCE
set -u
lister=$(readlink -f "${1:?usage: lister.sh BIN SOURCE}/trc_pkt_lister")
demo=$(readlink -f "${2:?usage: lister.sh BIN SOURCE}/examples/demo")
long=$(readlink -f "$2/fuzz/captures/stm")
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
bad=0

fail() {
    echo "$1"
    bad=$((bad + 1))
}

# check WHAT EXPECTED GOT
check() {
    [[ $2 == "$3" ]] || fail "$1: expected '$2', got '$3'"
}

# Lines on stdout, on stderr, in the default file, in X: some (1) or none (0); and the exit code.
places() {
    local expected=$1 code where="" file
    shift
    rm -f ./*
    "$lister" -ss_dir "$demo" "$@" >out 2>err
    code=$?
    for file in out err trc_pkt_lister.ppl X; do
        if [[ -s $file ]]; then where+=1; else where+=0; fi
    done
    check "places of [$*]" "$expected" "$where $code"
}

places "1010 0"
places "1010 0" -logstdout
places "0110 0" -logstderr
places "0010 0" -logfile
places "0001 0" -logfilename X
places "1001 0" -logstdout -logfilename X
places "0000 0" -logfilename ""
places "1000 254" -logfilename
places "1010 255" -help
places "1010 255" -id
places "1010 0" -no_such_option
places "0000 0" -logfilename /no/such/folder/X

# It appends to a file that is there, as the reference does: the user named it, and nothing of it is lost.
printf 'mine\n' >X
"$lister" -ss_dir "$demo" -decode -logfilename X >/dev/null
check "what stood in the log" mine "$(head -n 1 X)"
check "what is behind it" "Trace Packet Lister: CS Decode library testing" "$(sed -n 2p X)"
rm -f X

# The listing after the header, on stdout.
listing() {
    rm -f ./*
    "$lister" -ss_dir "$demo" -no_time_print -logstdout "$@" | sed '1,/^Test Command/d' | sed 1,2d
}

said() {
    local expected=$1
    shift
    check "said of [$*]" "$expected" "$(listing "$@" | head -1)"
}

said "Trace Packet Lister : Error: Missing directory string on -ss_dir option" -ss_dir
said "Trace Packet Lister : Error: No ID number on -id option" -id
said "Trace Packet Lister : Error: invalid ID number 0x70 on -id option" -id 0x70
said "Trace Packet Lister : Error: invalid ID number 0x0 on -id option" -id 0x100
said "Trace Packet Lister : Error: Missing source name string on -src_name option" -src_name
said "Trace Packet Lister : Error: wait count value on -test_waits option" -test_waits
said "Trace Packet Lister : Warning: Ignored unknown option -x." -x
said "Trace Packet Lister : reading snapshot from path ./" -ss_dir ./

contains() {
    local line=$1
    shift
    listing "$@" | grep -qxF -- "$line" || fail "not in the listing of [$*]: $line"
}

contains "Trace Packet Lister : Snapshot path/no/where not found" -ss_dir /no/where
contains "Trace Packet Lister : Trace source name X not found" -src_name X
contains "Trace Packet Lister : Protocol printer ETMV4I on Trace ID 0x10"
contains "Trace Packet Lister : No supported protocols found." -id 0x11
contains "Gen_Info : 0x0006 (OCSD_ERR_INVALID_PARAM_VAL) [Invalid value parameter passed to\
 component.]; MemAcc Caching: page size too smallGen_Info : Mapped Memory Accessors" \
    -decode -macc_cache_p_size 65536
contains $'ID:10\tRESET operation on trace decode path' -decode -multi_session
contains "Decode stats ID 0x10" -stats
contains "OCSD_GEN_TRC_ELEM_EO_TRACE : 1" -decode -profile

# The same elements, with packets or without them, in TPIU mode not at all.
check "elements" "$(listing -decode | grep -c OCSD_GEN)" "$(listing -decode_only | grep -c OCSD_GEN)"
check "packets" "$(listing -pkt_mon | grep -c '^Idx')" "$(listing | grep -c '^Idx')"
contains "Trace Packet Lister : Data Path fatal error" -decode -tpiu
check "waits" "$(listing -decode | grep -v 'processed')" "$(listing -decode -test_waits 5 | grep -v 'processed')"

# A long listing, which a thread writes: whole, the same in every place, and an error where it cannot be written.
rm -f ./*
"$lister" -ss_dir "$long" -decode -logstdout -logfilename X >out
check "exit code of a long listing" 0 $?
cmp -s out X || fail "a long listing is not the same in both places"
(($(wc -c <out) > 160000)) || fail "the long listing is short"
tail -n 1 out | grep -q '^Trace Packet Lister : Trace buffer done, processed' || fail "a long listing lacks its end"
if [[ -c /dev/full ]]; then
    "$lister" -ss_dir "$long" -decode -logfilename /dev/full 2>err
    check "exit code of a long listing that cannot be written" 1 $?
    grep -q 'cannot write the listing' err || fail "it is not said that a long listing cannot be written"
fi

# A malformed file is an error with its place, and no success.
mkdir snapshot
printf '[snapshot]\nversion=1.0\nversion=1.0\n' >snapshot/snapshot.ini
"$lister" -ss_dir snapshot -logstdout >out
check "exit code for a malformed file" 1 $?
grep -q 'snapshot/snapshot.ini:3: Duplicate version key found in snapshot section$' out ||
    fail "a malformed file's place is not said"

((bad == 0)) && echo "all as expected"
((bad == 0))
