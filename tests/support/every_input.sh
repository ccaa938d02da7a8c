# SPDX-License-Identifier: MIT
# For scripts that go through all there is: captures, vectors as snapshots of their own, perf.data; each whole,
# and as a damaged copy. `source` is the folder of sources, `shared` that of what lies beside them.

# Copies, since an index is written beside its trace.
every_input() { # FOLDER: of what is made; prints one path in each line
    local input n=0
    mkdir -p "$1"
    for input in "$source"/tests/captures/*/ "$shared"/captures/*/ "$shared"/perfdata/*/*.data; do
        [ -e "$input" ] || continue
        n=$((n + 1))
        cp -rL --no-preserve=mode "${input%/}" "$1/$n"
        echo "$1/$n"
        damaged_copy "${input%/}" $n "$1/damaged.$n"
    done
    every_vector "$1" | while read -r input; do
        n=$((n + 1))
        echo "$input"
        damaged_copy "$input" $n "$1/damaged.vector.$n"
    done
}

damaged_copy() { # INPUT SEED COPY [MOST BYTES]
    local trace
    cp -rL --no-preserve=mode "$1" "$3"
    find "$3" -type f \( -name '*.data' -o -path "$3" -o -name 'trace*.bin' -o -name '*STREAM*.bin' -o -name 'cstrace*.bin' \) |
        while read -r trace; do
            perl "$source/tests/support/damage.pl" "$2" "${4:-2000000}" "$trace" "$3.bytes"
            mv "$3.bytes" "$trace"
        done
    echo "$3"
}

vector() { # FOLDER PROTOCOL FORMAT TRACE ELF SETTINGS WRAPPING
    [ -e "$4" ] || return 0
    mkdir "$1"
    cp --no-preserve=mode "$4" "$1/trace.bin"
    printf '[snapshot]\nversion=1.0\n[device_list]\ndevice0=te.ini\n[trace]\nmetadata=trace.ini\n' >"$1/snapshot.ini"
    printf '[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=RAM\nfile=trace.bin\nformat=%s\n%s\n' "$3" "$7" >"$1/trace.ini"
    printf '[device]\nname=te\nclass=trace_source\ntype=%s\n[regs]\n%s\n' "$2" "$6" >"$1/te.ini"
    [ -z "$5" ] || { cp --no-preserve=mode "$5" "$1/program.elf" && printf '[elf0]\nfile=program.elf\n' >>"$1/te.ini"; }
    [ ! -e "${4%/*}/bootrom.bin" ] || { cp --no-preserve=mode "${4%/*}/bootrom.bin" "$1" && printf '[dump0]\nfile=bootrom.bin\naddress=0x1000\nlength=20\n' >>"$1/te.ini"; }
    echo "$1"
}

settings() { # FILE: those that decoders know
    sed -n -E 's/^([a-z0-9_]+) = (.*)$/\1=\2/p' "$1" | grep -v -E '^(pcs|events|encoder_options|container|payload_params|zcmt)='
}

# Of E-Trace's options every ninth, as there are a thousand; of N-Trace's every second.
every_vector() { # FOLDER
    local trace n=0 name folder elf words
    for trace in "$shared"/vectors/etrace/*/*.te; do
        n=$((n + 1))
        folder=${trace%/*}
        ((n % 9 != 0)) || vector "$1/etrace.$n" E-Trace encapsulation "$trace" "$(ls "$folder"/program.elf)" "$(settings "${trace%.te}.params")" ""
    done
    for trace in "$shared"/vectors/etrace/*/*.encap; do
        n=$((n + 1))
        folder=${trace%/*} words=
        [ ! -e "$trace.params" ] || words=$(sed -n 's/^payload_params = //p' "$trace.params")
        [ -n "$words" ] || continue
        vector "$1/etrace.$n" E-Trace encapsulation "$trace" "$(ls "$folder"/program.elf)" \
            "$(settings "$folder/$words"; settings "$trace.params")" "$(settings "$trace.params" | grep -v '^srcid=')"
    done
    for trace in "$shared"/vectors/ntrace/*/*.nex; do
        n=$((n + 1))
        ((n % 2 == 0)) || continue
        name=${trace##*/} words=
        case $name in *cs[0-9]* | *cnt* | *iret* | *all.nex) words="implicit_return=1" ;; esac
        case $name in *src[0-9]*) words+=$'\nsrc_bits='$(sed -E 's/.*src([0-9]+).*/\1/' <<<"$name") ;; esac
        elf=$(ls "${trace%/*}"/*.elf 2>/dev/null | head -1)
        vector "$1/ntrace.$n" N-Trace nexus "$trace" "$elf" "$words" "$(grep src_bits <<<"$words" || true)"
    done
    for trace in "$shared"/vectors/osd/*/*.dtd; do
        for name in OSD-CTM:1 OSD-CTM:2 OSD-STM:4; do
            n=$((n + 1))
            elf=$(ls "${trace%/*}"/traps.elf 2>/dev/null || true)
            vector "$1/osd.$n" "${name%:*}" osd "$trace" "$elf" "src_id=${name#*:}" ""
        done
    done
}
