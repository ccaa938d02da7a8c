#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Several buffers in a snapshot: windows of a list, with an index and without, are of each of them, as the full list
# is; each has an index of its own, and find looks into all.
#   buffers.sh BIN SOURCE
set -u
bin=${1:?usage: buffers.sh BIN SOURCE} source=${2:?usage: buffers.sh BIN SOURCE}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pugmark=$bin/pugmark
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# ---- the bundled capture, and beside it an ITM that writes into a short buffer of its own ----
two=$work/two
cp -r "$source/examples/demo" "$two"
chmod -R u+w "$two"
rm -f "$two"/*.pugindex
sed -i 's/^device1=.*/&\ndevice2=ITM_0.ini/' "$two/snapshot.ini"
cat >"$two/ITM_0.ini" <<'END'
[device]
name=ITM_0
class=trace_source
type=ITM
[regs]
ITMTCR=0x200000
END
cat >"$two/trace.ini" <<'END'
[trace_buffers]
buffers=buffer0,buffer1
[buffer0]
name=ETB_0
file=trace.bin
format=coresight
[buffer1]
name=ETB_1
file=itm.bin
format=coresight
[source_buffers]
ETM_0=ETB_0
ITM_0=ETB_1
[core_trace_sources]
cpu_0=ETM_0
END
# an ASYNC, port 0, and overflows
printf '\x41\0\0\0\0\0\x80\x01\x60\x70\x70\x70\x70\x70\x70\x10' >"$two/itm.bin"

# same FROM TO OPTIONS: a window lists what the full list has in it
same() {
    local from=$1 to=$2
    shift 2
    "$pugmark" list --quiet "${how[@]}" --from "$from" --to "$to" "$capture" >"$work/full" || fail "list ${how[*]} $capture"
    "$pugmark" list --quiet "${how[@]}" "$@" "$capture" >"$work/part" || fail "list ${how[*]} $* $capture"
    cmp -s "$work/full" "$work/part" || fail "list ${how[*]} $* $capture is not the full list's part"
}
windows() {
    for words in "" --packets "--packets --elements" "--format jsonl"; do
        read -ra how <<<"$words"
        same 0 $((at + 300)) --around $at --radius 300
        same $((at + 1)) $((at + 41)) --around $((at + 21)) --radius 20
        # both have all of a list that is as long as that
        same 0 $((1 << 40)) --around 0 --count 1000000
    done
}
at=100
for capture in "$two" "$source/tests/captures/ete-a64-versions"; do
    cp -r "$capture" "$work/copy"
    chmod -R u+w "$work/copy"
    capture=$work/copy
    rm -f "$capture"/*.pugindex
    windows
    "$pugmark" index --block 1024 "$capture" >"$work/said" || fail "index"
    count=$(grep -c '^file=' "$capture/trace.ini")
    [[ $(grep -c ' bytes of trace ' "$work/said") == "$count" ]] || fail "index reports $(cat "$work/said")"
    [[ $(ls "$capture"/*.pugindex | wc -l) == "$count" ]] || fail "there are $(ls "$capture")"
    windows
    rm -r "$work/copy"
done

# ---- a place in any of them ----
found() {
    local got
    # shellcheck disable=SC2086
    got=$("$pugmark" find $1 --quiet "$two" 2>&1) || fail "find $1: $got"
    [[ $(tail -n 1 <<<"$got" | xargs) == "$2" ]] || fail "find $1: '$got', not '$2'"
    [[ $(sed -n 's/^# buffer \([^,]*\),.*/\1/p' <<<"$got") == "$3" ]] || fail "find $1: '$got' is not of '$3'"
}
for how in without with; do
    [[ $how == without ]] || "$pugmark" index --quiet "$two" || fail "index"
    found "--sync --source 0x20" "0 20 0" "" # which speaks in one alone
    found "--overflow" "8 20 0" ETB_1
    found "--sync --source 0x10" "$("$pugmark" find --sync "$source/examples/demo" | xargs)" ""
    found "--sync --buffer ETB_1" "0 20 0" ""
    "$pugmark" find --quiet --discard "$two" 2>"$work/said" && fail "found what is in neither"
    grep -qx "pugmark: $two: there is no such place" "$work/said" || fail "$(cat "$work/said")"
done

# ---- what is of one buffer ----
refused() {
    local code=0
    "$pugmark" "$@" --quiet "$two" >/dev/null 2>"$work/said" || code=$?
    [[ $code == 2 ]] && grep -q -e '--buffer' "$work/said" || fail "$*: exit $code, $(cat "$work/said")"
}
refused find --sync --after 1
refused find --sync --index "$work/index"
refused list --around 0 --index "$work/index"
refused index --output "$work/index"

# ---- buffers of one file: each has an index with its name ----
one=$work/one
cp -r "$two" "$one"
rm -f "$one"/*.pugindex
sed -i 's/file=itm.bin/file=trace.bin/; s/^name=ETB_1/name=ETB\/1/; s/=ETB_1/=ETB\/1/' "$one/trace.ini"
for pass in new again; do
    "$pugmark" index --block 1024 "$one" >"$work/said" 2>&1 || fail "index of buffers of one file, $pass: $(cat "$work/said")"
    [[ $(grep -c ' bytes of trace ' "$work/said") == 2 ]] || fail "index reports $(cat "$work/said")"
    [[ $(cd "$one" && echo *.pugindex) == "trace.bin.ETB_0.pugindex trace.bin.ETB_1.pugindex" ]] || fail "there are $(ls "$one")"
    "$pugmark" list --quiet --packets --around 100 --buffer ETB_0 "$one" >"$work/part" 2>"$work/said" ||
        fail "list --buffer: $(cat "$work/said")"
done

# ---- sources: a buffer in which none of them speaks is passed over ----
"$pugmark" list --quiet --source 0x20 "$two" >"$work/part" || fail "list --source 0x20"
"$pugmark" list --quiet --buffer ETB_1 "$two" | cmp -s - "$work/part" || fail "a list of $(head -n 1 "$work/part")"
"$pugmark" list --quiet --source 0x99 "$two" >/dev/null 2>"$work/said" && fail "a list of no source"
grep -q 'no source 0x99 in it; there are 0x10' "$work/said" || fail "$(cat "$work/said")"

# ---- a source in two buffers is decoded once, from the one that is named first ----
twice=$work/twice
cp -r "$two" "$twice"
rm -f "$twice"/*.pugindex
cp "$twice/trace.bin" "$twice/again.bin"
sed -i 's/file=itm.bin/file=again.bin/; /^ITM_0=/d' "$twice/trace.ini"
sed -i '/^device2=/d' "$twice/snapshot.ini"
"$pugmark" list --quiet "$source/examples/demo" >"$work/once" || fail "list of the bundled capture"
for order in ETB_0,ETB_1 "ETB_1, ETB_0"; do
    sed -i "s/^ETM_0=.*/ETM_0=$order/" "$twice/trace.ini"
    for command in "list --quiet" info "pc --quiet" stat; do
        read -ra words <<<"$command"
        "$pugmark" "${words[@]}" "$twice" >"$work/part" 2>"$work/said" || fail "$command, $order: exit $?, $(cat "$work/said")"
        [[ ! -s $work/said ]] || fail "$command, $order: $(cat "$work/said")"
    done
    "$pugmark" list --quiet "$twice" | cmp -s - "$work/once" || fail "list, $order: not the source's elements, once"
    "$pugmark" list --by-time --quiet "$twice" 2>/dev/null >"$work/part"
    grep -q " ${order%%,*} " "$work/part" || fail "list --by-time, $order: not from the first"
    "$pugmark" list --quiet --buffer "${order##*[, ]}" "$twice" | cmp -s - "$work/once" || fail "list --buffer, $order"
done

# ---- a source that no buffer has, while others are in one ----
left=$work/left
cp -r "$two" "$left"
sed -i '/^ITM_0=/d; s/^buffers=.*/buffers=buffer0/; /^\[buffer1\]/,/^format/d' "$left/trace.ini"
"$pugmark" list "$left" >/dev/null 2>"$work/said" || fail "list without the ITM: $(cat "$work/said")"
grep -q 'trace.ini: \[source_buffers\] says of no buffer that ITM_0 is in it' "$work/said" || fail "left out in silence: $(cat "$work/said")"

# ---- without trace: the snapshot's content is still shown ----
none=$work/none
cp -r "$two" "$none"
sed -i '/^\[trace\]/,$d' "$none/snapshot.ini"
"$pugmark" info "$none" >"$work/part" 2>"$work/said"
[[ $? == 1 ]] || fail "info without [trace]: not exit code 1"
grep -q '^  ETM_0 .*12 registers' "$work/part" || fail "info without [trace] lists no devices"
grep -q 'no trace buffer in it: .*\[trace\] metadata=' "$work/said" || fail "info without [trace]: $(cat "$work/said")"
"$pugmark" list "$none" >/dev/null 2>&1
[[ $? == 3 ]] || fail "list without [trace]: not exit code 3"
rm "$two/trace.ini"
"$pugmark" info "$two" >"$work/part" 2>"$work/said"
[[ $? == 1 ]] || fail "info without trace.ini: not exit code 1"
grep -q "two/trace.ini: No such file or directory; snapshot.ini names this file" "$work/said" || fail "info without trace.ini: $(cat "$work/said")"
