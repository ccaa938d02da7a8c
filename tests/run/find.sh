#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark find: each kind of place, in trace that is written here byte by byte; without an index, with a sparse one and
# with a full one. What is not there is not found.
#   find.sh BIN SOURCE
set -u
bin=${1:?usage: find.sh BIN SOURCE} source=${2:?usage: find.sh BIN SOURCE}
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
pugmark=$bin/pugmark
cd "$work" || exit 1
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# found OPTIONS PLACE: at this offset, of this source, with this value. Uses `input` and `extra`.
found() {
    local got
    # shellcheck disable=SC2086
    got=$("$pugmark" find "${input[@]}" "${extra[@]}" $1 --quiet 2>said) || fail "${input[*]} ${extra[*]} $1: $(cat said)"
    [[ $(echo $got) == "$2" ]] || fail "${input[*]} ${extra[*]} $1: '$got', not '$2'"
}
missing() {
    local code=0
    # shellcheck disable=SC2086
    "$pugmark" find "${input[@]}" "${extra[@]}" $1 --quiet >got 2>&1 || code=$?
    [[ $code == 1 ]] || fail "${input[*]} ${extra[*]} $1: exit $code, $(cat got)"
}
# each_way FUNCTION: it is called three times.
each_way() {
    extra=() # there is no file of the usual name
    "$1"
    for how in "" --full; do
        # shellcheck disable=SC2086
        "$pugmark" index "${input[@]}" $how --block 1024 --output index --rebuild --quiet || fail "index ${input[*]}"
        extra=(--index index)
        "$1"
    done
}

# ---- ETE: what a core says ----
cat >params <<'END'
TRCIDR0 = 0x28000EA1
TRCIDR1 = 0x4100F403
TRCIDR2 = 0x00000488
TRCIDR8 = 0
TRCDEVARCH = 0x47735A13
TRCCONFIGR = 0x8C1
TRCTRACEIDR = 0x10
END
synchronisation='\0\0\0\0\0\0\0\0\0\0\0\x80\x01\0'
{
    printf "$synchronisation"              # 0
    printf '\x04'                          # 14 TRACE_ON
    printf '\x81\xf1\x07\x78\x56\x34\x12'  # 15 CTXT: VMID 7, context id 0x12345678
    printf '\x9d\0\x08\0\0\0\0\0\0'        # 22 ADDR_L_64IS0: 0x1000
    printf '\x02\x88\x01'                  # 31 TIMESTAMP: 0x88
    printf '\x74'                          # 34 EVENT: 2
    printf '\x0a\x0b'                      # 35 TRANS_ST, TRANS_COMMIT
    printf '\x06\x1d\x95\x04'              # 37 EXCEPT: IRQ, and its address
    printf '\0\x05'                        # 41 OVERFLOW
    printf '\0\x03'                        # 43 DISCARD
    head -c 3000 /dev/zero                 # in other blocks:
    printf "$synchronisation"              # 3045 (its zeros are the last eleven)
    printf '\x02\x89\x01'                  # 3059 TIMESTAMP: 0x89
    printf '\x04\x71'                      # 3062 TRACE_ON, EVENT: 0
} >ete
ete() {
    found "--sync" "0 10 0"
    found "--sync --after 1" "3045 10 0"
    found "--sync --before 3045" "0 10 0"
    found "--time 1" "31 10 136"
    found "--time 0x88" "31 10 136"
    found "--time 0x89" "3059 10 137"
    missing "--time 0x8a"
    found "--timestamp 0x89" "3059 10 137"
    # timestamps are of 10 a second: seconds, or nanoseconds
    found "--set timestamp_hz=10 --time 13.6" "31 10 13600000000"
    found "--set timestamp_hz=10 --time 13600000001" "3059 10 13700000000"
    found "--set timestamp_hz=10 --timestamp 136" "31 10 136"
    missing "--set timestamp_hz=10 --time 13.8"
    found "--event 2" "34 10 2"
    found "--event 0" "3063 10 0"
    missing "--event 1"
    found "--context 0x12345678" "15 10 0x12345678"
    missing "--context 0x1234"
    found "--vmid 7" "15 10 0x7"
    missing "--vmid 0x78"
    found "--address 0x1000" "22 10 0x1000"
    missing "--address 0x1004"
    found "--exception 14" "37 10 14"
    missing "--exception 2"
    found "--overflow" "41 10 0"
    missing "--overflow --after 42"
    found "--discard" "43 10 0"
    missing "--discard --before 43"
    found "--trace-on" "14 10 0"
    found "--trace-on --after 15" "3062 10 0"
    found "--transaction" "35 10 1"
    found "--transaction --after 36" "36 10 2"
    missing "--trigger"
    missing "--dwt 0"
    missing "--elapsed 1"
}
input=(--protocol ete --transport plain --params params ete)
each_way ete

# ---- every packet with an address ----
sed 's/0x28000EA1/0x28018EA1/' params >params_q
{
    printf "$synchronisation"              # 0
    printf '\x9d\0\x08\0\0\0\0\0\0'        # 14 ADDR_L_64IS0: 0x1000
    printf '\xf7\xb4\x04'                  # 23 atom; 24 SRC_ADDR_S_IS0: 0x1010
    printf '\xf7\xaa\x08\x08\0\0\x02'      # 26 atom; 27 Q: 0x1020, 2 instructions
    printf '\xa1\x03'                      # 33 Q: 0x1010 again, the second of the last three; 3
    printf '\xf7\xb6\0\x48\0\0'            # 35 atom; 36 SRC_ADDR_L_32IS0: 0x9000
    printf '\xb0\xac\x02'                  # 41 SRC_ADDR_MATCH: 0x9000 again; 42 Q without an address
} >addresses
addresses() {
    found "--address 0x1000" "14 10 0x1000"
    found "--address 0x1010" "24 10 0x1010"
    found "--address 0x1020" "27 10 0x1020"
    found "--address 0x1010 --after 25" "33 10 0x1010"
    missing "--address 0x1010 --after 34"
    found "--address 0x9000" "36 10 0x9000"
    found "--address 0x9000 --after 37" "41 10 0x9000"
    missing "--address 0x9000 --after 42"
}
input=(--protocol ete --transport plain --params params_q addresses)
each_way addresses

# ---- PTM and ETMv3: exception bytes with the number 0 are no exception ----
cat >params_armv7 <<'END'
ETMCR = 0
ETMIDR = 0x4100F310
ETMCCER = 0x14000000
ETMTRACEIDR = 0x10
END
printf '\0\0\0\0\0\x80\x08\0\x80\0\0\x21\x83\x40\0\x83\x40\x1d\x72\x08' >ptm
ptm() { # 0 A-sync, 6 I-sync, 12 and 15 branches, 18 waypoint update
    missing "--exception 0"
    found "--exception 14" "15 10 14"
    found "--address 0x8000" "6 10 0x8000"
    found "--address 0x8004" "12 10 0x8004"
    found "--address 0x8010" "18 10 0x8010"
}
input=(--protocol ptm --transport plain --params params_armv7 ptm)
each_way ptm
sed 's/F310/F250/' params_armv7 >params_etmv3
printf '\0\0\0\0\0\x80\x08\x21\0\x80\0\0\x87\x80\x80\x80\x48\0\x87\x80\x80\x80\x48\x1c' >etmv3
etmv3() { # 0 A-sync, 6 I-sync, 12 and 18 branches
    missing "--exception 0"
    found "--exception 14" "18 10 14"
    found "--address 0x8000" "6 10 0x8000"
    found "--address 0xc" "12 10 0xc"
}
input=(--protocol etmv3 --transport plain --params params_etmv3 etmv3)
each_way etmv3
sed 's/ETMCR = 0/ETMCR = 0x10000C/' params_etmv3 >params_data # data only: the I-sync has no address
printf '\0\0\0\0\0\x80\x08\x21' >data
data() {
    found "--trace-on" "6 10 0"
    missing "--address 0"
}
input=(--protocol etmv3 --transport plain --params params_data data)
each_way data

# ---- a trigger in CoreSight frames ----
{
    printf '\x21\0\0\0\0\0\0\0\0\0\0\0\x80\x01\0\0'       # frame 0: source 0x10: ASYNC, TRACE INFO
    printf '\xfb\x2a\x21\0\0\0\0\0\0\0\0\0\0\0\0\0'       # frame 1: a trigger, 0x2a, then source 0x10 again
    head -c 1024 /dev/zero
} >frames
frames() {
    found "--trigger" "16 7d 42" # where its frame begins
    missing "--trigger --after 18"
}
input=(--protocol ete --transport coresight --set fsyncs=0 --params params frames)
each_way frames

# ---- ITM: local times are differences ----
printf '\0\0\0\0\0\x80\x01a\x30\x0d\x12\x07\x11\x22\x33\x44\xc0\x85\x01\x01b\x20\x70' >itm
itm() {
    found "--sync" "0 00 0"
    found "--event 0" "6 00 0"
    found "--dwt 0" "11 00 0"
    found "--elapsed 3" "8 00 3"
    found "--elapsed 4" "16 00 136"
    found "--elapsed 138" "21 00 138"
    missing "--elapsed 139"
    found "--overflow" "22 00 0"
}
input=(--protocol itm itm)
each_way itm

# ---- ITM: stimulus ports are of pages, until the next synchronisation ----
{
    printf '\0\0\0\0\0\x80\x51a'      # 6: port 10
    printf '\x28\x51b\x51c'             # 9, 11: port 74, in page 2
    printf '\x70\x30\x51d'              # 15: the same, behind an overflow and a time
    printf '\x79\x7a\x51e'              # 17: port 15 of the page; 19: still 74
    printf '\0\0\0\0\0\x80\x51f'      # 27: port 10
    head -c 2000 /dev/zero | tr '\0' p # overflows, in other blocks
    printf '\x38\x51g'                  # 2030: port 106
} >pages
pages() {
    found "--event 10" "6 00 10"
    found "--event 10 --after 7" "27 00 10"
    missing "--event 10 --after 28"
    found "--event 74" "9 00 74"
    found "--event 74 --before 27" "19 00 74"
    found "--event 79" "17 00 79"
    missing "--event 15"
    found "--event 106" "2030 00 106"
}
input=(--protocol itm pages)
each_way pages
# ---- N-Trace: times are differences from the last one; addresses have fewer bits than the hart ----
{
    printf '\x24\x0d\x00\x00\x00\x00\x80\x05\xa0\x3f' # 0 ProgTraceSync: FADDR 0xc0000000; TSTAMP 1000
    printf '\x08\xb8\x54\xec\x09\x17'                 # 10 Ownership: scontext 0x5dab; TSTAMP 5
    printf '\x08\x9c\x0f'                             # 16 Ownership: hcontext 7
    printf '\x08\x90\x13'                             # 19 Ownership: no context, privilege only
    printf '\x10\x09\x00\x09\x3f'                     # 22 IndirectBranch: BTYPE 2, an exception; TSTAMP 15
    printf '\x24\x19\x00\x08\x00\x00\x80\x05\x40\x7f' # 27 ProgTraceSync: a watchpoint; TSTAMP 2000
    printf '\x24\x01\x00\x08\x00\x00\x80\x05\x68\x7f' # 37 ProgTraceSync: an external trigger; TSTAMP 2010
    head -c 3000 /dev/zero | tr '\0' '\377'
    printf '\x10\x01\x00\x09\x53' # 3047 IndirectBranch: TSTAMP 20
} >ntrace
ntrace() {
    found "--time 1" "0 00 1000"
    found "--time 1001" "10 00 1005"
    found "--time 1006" "22 00 1020"
    found "--time 2001" "37 00 2010"
    found "--time 2011" "3047 00 2030"
    missing "--time 2031"
    missing "--elapsed 5" # they are no local times
    found "--context 0x5dab" "10 00 0x5dab"
    missing "--context 9"
    missing "--context 7"
    found "--vmid 7" "16 00 0x7"
    found "--exception 2" "22 00 2"
    found "--event 6" "27 00 6"
    found "--trigger" "37 00 0"
    found "--address 0xffffffffc0000000" "0 00 0xffffffffc0000000"
    missing "--address 0xc0000000"
}
input=(--protocol ntrace --transport plain --set xlen=64 --set addr_bits=32 ntrace)
each_way ntrace

# The pre-1.0 dialect: the bits that changed, of clocks that wrap, here after 12.
{
    printf '\x24\x0d\x00\x81\xc0\xff' # 0 ProgTraceSync: TSTAMP 0xff0
    printf '\x08\x89\x3f'             # 6 Ownership: TSTAMP 0xf
    printf '\x08\x89\xfc\xff'         # 9 Ownership: TSTAMP 0xfff
    head -c 3000 /dev/zero | tr '\0' '\377'
    printf '\x08\x89\x0f'         # 3013 Ownership: TSTAMP 3
    printf '\x24\x09\x00\x81\x0b' # 3016 ProgTraceSync: TSTAMP 2
} >pre
pre() {
    found "--time 0xff1" "6 00 4095"
    found "--time 4096" "9 00 4096"
    found "--time 4097" "3013 00 4099"
    found "--time 4100" "3016 00 8194"
}
input=(--protocol ntrace --transport plain --set dialect=sifive-pre1 --set ts_width=12 pre)
each_way pre

# ---- E-Trace: times in the encapsulation, of 16 bits; a packet that notifies ----
printf '%s\n' 'xlen = 64' 'iaddress_width_p = 64' 'iaddress_lsb_p = 1' 'srcid_bits = 0' 'timestamp_bytes = 2' >etrace.params
{
    echo 'packet 0 0 630004 time=0xfff0'   # 0
    echo 'packet 0 0 01 time=0xffff'       # 6
    echo 'packet 0 0 0220000000000000fe'   # 10 format 2, notify
    for ((i = 0; i < 1500; i++)); do echo 'packet 0 0 01'; done
    echo 'packet 0 0 01 time=3'            # 3020
} >lines
"$pugmark" encode --set timestamp_bytes=2 --output etrace lines || fail "encode"
etrace() {
    found "--time 1" "0 00 65520"
    found "--time 65521" "6 00 65535"
    found "--time 65536" "3020 00 65539"
    missing "--time 65540"
    found "--event 6" "10 00 6"
    found "--address 0x1000" "0 00 0x1000"
}
input=(--protocol etrace --params etrace.params --transport encapsulation etrace)
each_way etrace

# ---- Open SoC Debug: clocks of 32 bits wrap ----
{
    echo 'ctm 1 64 0xfffffff0 0x1000 0x2000 0'
    for ((i = 0; i < 100; i++)); do echo 'ctm 1 64 0xfffffff1 0x1000 0x2000 0'; done
    echo 'ctm 1 64 5 0x1000 0x2000 0'
    echo 'ctm 1 64 4 0x1000 0x2000 0'
} >lines
"$pugmark" encode --format osd --output osd lines || fail "encode"
size=$(($(stat -c %s osd) / 103))
osd() {
    found "--time 1" "0 01 4294967280"
    found "--time 4294967282" "$((101 * size)) 01 4294967301"
    found "--time 4294967302" "$((102 * size)) 01 8589934596"
}
input=(--protocol osd-ctm --set src_id=1 osd)
each_way osd

# Each source has a clock of its own: a window of one goes by that.
cp -r "$source/tests/captures/etmv4-a64" two
for id in 0x10 0x11; do
    "$pugmark" list --quiet --source $id --format csv two |
        awk -F, '$3 == "TIMESTAMP" { time[++n] = $6; at[n] = $1 }
                 END { print at[int(n / 3)], time[int(n / 3)], at[int(n / 2)], time[int(n / 2)] }' >times
    read -r from first to last <times
    window=(--source $id --from-time $((first)) --to-time $((last - 1)))
    "$pugmark" list --quiet "${window[@]}" --format csv two | awk -F, 'NR > 1 { print $1 }' >got
    "$pugmark" list --quiet --source $id --format csv two |
        awk -F, -v from="$from" -v to="$to" 'NR > 1 && $1 >= from && $1 < to { print $1 }' >wanted
    [[ -s wanted ]] && cmp -s got wanted || fail "list ${window[*]}: not what is in [$from, $to)"
done

# An index of a part from the middle cannot say that something is not before it.
middle=$work/middle
cp -r "$source/examples/demo" "$middle"
chmod -R u+w "$middle"
rm -f "$middle"/*.pugindex
for ((n = 0; n < 20; n++)); do cat "$source/examples/demo/trace.bin"; done >"$middle/trace.bin"
"$pugmark" index --quiet --block 1024 --from 3000 "$middle" || fail "index --from"
"$pugmark" find --sync --before 1000 "$middle" >"$work/got" 2>"$work/said"
[[ $? -eq 3 && ! -s $work/got ]] || fail "find before the indexed part is sure: $(cat "$work/got")"
grep -q 'only its bytes from 2048 to 5760 of 5760 are indexed' "$work/said" || fail "find before the indexed part: $(cat "$work/said")"
"$pugmark" find --sync --after 100 "$middle" >"$work/got" 2>"$work/said" || fail "find into the indexed part"
grep -q 'there may be a nearer one' "$work/said" || fail "find into the indexed part: $(cat "$work/said")"
"$pugmark" find --sync --after 3000 "$middle" >"$work/got" 2>"$work/said" || fail "find in the indexed part"
[[ ! -s $work/said ]] || fail "find in the indexed part: $(cat "$work/said")"
