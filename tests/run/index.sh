#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark index and find: the file is made, used, refused when damaged, and rebuilt.
#   index.sh BIN SOURCE
set -u
bin=${1:?usage: index.sh BIN SOURCE} source=${2:?usage: index.sh BIN SOURCE}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pugmark=$bin/pugmark
demo=$work/demo
cp -r "$source/examples/demo" "$demo"
file=$demo/trace.bin.pugindex
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

without=$("$pugmark" find "$demo" --sync) || fail "find without an index"
"$pugmark" index "$demo" >/dev/null || fail "index"
[[ -f $file ]] || fail "no index file"
with=$("$pugmark" find "$demo" --sync) || fail "find with an index"
[[ $with == "$without" ]] || fail "'$with' with the index, '$without' without"
"$pugmark" find "$demo" --event 77 2>/dev/null && fail "found what is not there"
"$pugmark" find "$demo" 2>/dev/null
(($? == 2)) || fail "nothing to look for was accepted"

# A window makes the decoders' states once; with another program they are made again, and the file keeps its own.
at=$(($(stat -c %s "$demo/trace.bin") / 2))
cp "$file" "$work/marks"
without=$("$pugmark" list "$demo" --quiet --around $at --radius 100) || fail "list --around with marks"
"$pugmark" index "$demo" --quiet --rebuild --elements --output "$work/states" || fail "index --elements"
cmp -s "$file" "$work/marks" && fail "a window left no states"
cmp -s "$file" "$work/states" || fail "the states of a window are not those of index --elements"
[[ $("$pugmark" list "$demo" --quiet --around $at --radius 100) == "$without" ]] || fail "another window with states"
cp "$demo/program.bin" "$work/program.bin"
printf '\x1f\x20\x03\xd5' | dd of="$demo/program.bin" conv=notrunc status=none
"$pugmark" list "$demo" --quiet --around $at --radius 100 >"$work/window" # of a program that did not run
cmp -s "$file" "$work/states" || fail "a window with another program changed the file"
"$pugmark" list "$demo" --quiet | awk -v at=$at '$1 >= at - 100 && $1 < at + 100' | cmp -s - "$work/window" ||
    fail "a window with another program"
"$pugmark" index "$demo" --quiet --elements || fail "index --elements with another program"
cmp -s "$file" "$work/states" && fail "states of another program were taken for these"
"$pugmark" index "$demo" --quiet --rebuild --elements --output "$work/states"
cmp -s "$file" "$work/states" || fail "states of another program were not made again"
cp "$work/program.bin" "$demo/program.bin"
cp "$work/marks" "$file"

# A window in a long trace needs no states when a synchronisation point gives decoders everything.
lengthy=$work/lengthy
cp -r "$demo" "$lengthy"
for ((n = 0; n < 240; n++)); do cat "$demo/trace.bin"; done >"$lengthy/trace.bin"
"$pugmark" index "$lengthy" --quiet --block 4096 || fail "index of a long trace"
cp "$lengthy/trace.bin.pugindex" "$work/untouched"
"$pugmark" list "$lengthy" --quiet --around 60000 >"$work/window"
cmp -s "$lengthy/trace.bin.pugindex" "$work/untouched" || fail "a window made states that it did not need"
"$pugmark" list "$lengthy" --quiet | awk '$1 >= 58976 && $1 < 61024' | cmp -s - "$work/window" ||
    fail "a window without states"

# Else, as where trace is speculated, it makes those before it. Others go on with them, and so does the index.
long=$work/long-cycles
cp -r "$source/tests/captures/etmv4-a64-cycles" "$long"
for ((n = 0; n < 32; n++)); do cat "$source/tests/captures/etmv4-a64-cycles/trace.bin"; done >"$long/trace.bin"
size=$(stat -c %s "$long/trace.bin")
elements_of() {
    sed -n 's/.*, blocks of 4096\(.*\)$/\1/p' <<<"$1"
}
"$pugmark" index "$long" --quiet --block 4096 || fail "index of another long trace"
"$pugmark" index "$long" --quiet --block 4096 --elements --output "$work/all" || fail "its states"
[[ $(elements_of "$("$pugmark" index "$long")") == "" ]] || fail "marks with elements"
for part in 2 1 3; do
    "$pugmark" list "$long" --quiet --around $((size * part / 4)) >"$work/window$part"
    up_to[part]=$(elements_of "$("$pugmark" index "$long")")
done
[[ ${up_to[2]} == ", elements up to "* ]] || fail "a window in the middle has '${up_to[2]}'"
[[ ${up_to[1]} == "${up_to[2]}" ]] || fail "a window before another made '${up_to[1]}' of '${up_to[2]}'"
((${up_to[2]##* } >= size / 2 - 9216 && ${up_to[2]##* } <= (size / 2 - 1024 + 4095) / 4096 * 4096)) || fail "a window has ${up_to[2]} of $size"
((${up_to[3]##* } > ${up_to[2]##* })) || fail "a later window has '${up_to[3]}'"
"$pugmark" index "$long" --quiet --elements || fail "all states of it"
[[ $(elements_of "$("$pugmark" index "$long")") == ", elements" ]] || fail "not all states of it"
cmp -s "$long/trace.bin.pugindex" "$work/all" || fail "states that were made bit by bit are others"
for part in 1 2 3; do
    "$pugmark" list "$long" --quiet --around $((size * part / 4)) | cmp -s - "$work/window$part" ||
        fail "window $part with all states"
    "$pugmark" list "$long" --quiet | awk -v at=$((size * part / 4)) '$1 >= at - 1024 && $1 < at + 1024' |
        cmp -s - "$work/window$part" || fail "window $part"
done

# Kinds of place, beside each other.
on=$("$pugmark" find "$demo" --trace-on) || fail "find --trace-on"
[[ $on == $("$pugmark" list "$demo" --type TRACE_ON | sed -n '1s/^\( *[0-9]*  [0-9a-f]*  \).*/\10/p') ]] ||
    fail "the first trace-on is at '$on'"
"$pugmark" find "$demo" --transaction 2>/dev/null && fail "found a transaction"
"$pugmark" find "$demo" --discard 2>/dev/null && fail "found a discard"
"$pugmark" find "$demo" --vmid 9 2>/dev/null && fail "found a virtual machine"
printf '\0\0\0\0\0\x80\x01a\x30\x0d\x12\x07\x11\x22\x33\x44\xc0\x85\x01\x01b\x20' >"$work/itm"
[[ $("$pugmark" find --protocol itm "$work/itm" --elapsed 4 --quiet) == *" 16  00  136" ]] || fail "find --elapsed"
[[ $("$pugmark" find --protocol itm "$work/itm" --dwt 0 --quiet) == *" 11  00  0" ]] || fail "find --dwt"
"$pugmark" find --protocol itm "$work/itm" --elapsed 139 2>/dev/null && fail "found a time that did not come"

# A stream has no place beside it for an index: neither is one left there, nor looked for.
mkdir "$work/streams"
sed 's/a/c/' "$work/itm" >"$work/other"
(
    cd "$work/streams" || exit 1
    "$pugmark" index --quiet --protocol itm - <"$work/itm" 2>/dev/null && fail "the index of a stream"
    "$pugmark" index --quiet --protocol itm --output named - <"$work/itm" || fail "a stream's index with a name"
    [[ $(ls) == named ]] || fail "a stream's index is $(ls)"
    [[ $("$pugmark" find --protocol itm --index named --dwt 0 --quiet - <"$work/itm") == *" 11  00  0" ]] ||
        fail "find --index in a stream"
    cp named ./-.pugindex
    [[ $("$pugmark" find --protocol itm --dwt 0 --quiet - <"$work/other") == *" 11  00  0" ]] ||
        fail "find in another stream"
    "$pugmark" find --protocol itm --index named --dwt 0 --quiet - <"$work/other" 2>/dev/null &&
        fail "the index of another stream"
    exit 0
) || exit 1

# A part from the middle, and every mark of one source only.
size=$(stat -c %s "$demo/trace.bin")
for i in 1 2 3 4 5 6 7 8; do cat "$demo/trace.bin"; done >"$work/long"
sed -n 's/^\(TRC[A-Z0-9]*\)(.*)=\(.*\)/\1 = \2/p' "$demo/ETM_0.ini" >"$work/registers"
"$pugmark" index --protocol etmv4i --transport coresight --params "$work/registers" --quiet --block 1024 \
    --from $((4 * size)) --output "$work/part" "$work/long" || fail "index --from"
at=$("$pugmark" find --protocol etmv4i --transport coresight --params "$work/registers" --index "$work/part" \
    --sync "$work/long") || fail "find in a part"
read -r at _ <<<"$at"
((at >= 4 * size - 1024)) || fail "the part begins at $((4 * size)), but has $at"
"$pugmark" index "$demo" --rebuild --quiet --full-source 0x10 --output "$work/part" || fail "index --full-source"

# A part is gone on with, also when the capture has grown; the result is that of the whole.
for how in "" --full --elements; do
    # shellcheck disable=SC2086
    "$pugmark" index "$demo" --rebuild --quiet --block 1024 $how || fail "index $how"
    cp "$file" "$work/whole"
    # shellcheck disable=SC2086
    "$pugmark" index "$demo" --rebuild --quiet --block 1024 --limit 100 $how || fail "index a part"
    with=$("$pugmark" find "$demo" --sync --before 1000000) || fail "find after a part"
    [[ $with == $("$pugmark" find "$demo" --index "$work/whole" --sync --before 1000000) ]] ||
        fail "the part hides what follows it"
    "$pugmark" index "$demo" --quiet || fail "go on with a part"
    cmp -s "$file" "$work/whole" || fail "a part that was gone on with is not the whole ($how)"
done
cp "$demo/trace.bin" "$work/trace"
"$pugmark" index "$demo" --rebuild --quiet || fail "index before growing"
cat "$work/trace" >>"$demo/trace.bin"
without=$("$pugmark" find "$demo" --sync --before 1000000) || fail "find in a capture that has grown"
"$pugmark" index "$demo" --quiet || fail "index a capture that has grown"
with=$("$pugmark" find "$demo" --sync --before 1000000) || fail "find after growing"
[[ $with == "$without" ]] || fail "'$with' after growing, '$without' before"
cp "$work/trace" "$demo/trace.bin"
"$pugmark" find "$demo" --sync 2>"$work/said" && fail "the index of a longer capture was used"
"$pugmark" index "$demo" --rebuild --quiet || fail "rebuild for the shorter capture"

: >"$demo/trace.bin"
"$pugmark" index "$demo" --rebuild >/dev/null 2>"$work/said" && fail "index of an empty capture: not lengthy"
grep -q 'the trace is empty' "$work/said" || fail "index of an empty capture: $(cat "$work/said")"
"$pugmark" find "$demo" --sync 2>/dev/null && fail "found something in nothing"
cp "$work/trace" "$demo/trace.bin"
"$pugmark" index "$demo" --rebuild --quiet || fail "rebuild"

printf 'x' | dd of="$file" bs=1 seek=150 conv=notrunc 2>/dev/null
"$pugmark" find "$demo" --sync 2>"$work/said" && fail "a damaged index was used"
grep -q damaged "$work/said" || fail "the damage was not named"
"$pugmark" index "$demo" 2>/dev/null && fail "a damaged index was replaced unasked"
"$pugmark" index "$demo" --rebuild >/dev/null || fail "rebuild"
"$pugmark" find "$demo" --sync >/dev/null || fail "find after the rebuild"

printf 'x' | dd of="$demo/trace.bin" bs=1 seek=100 conv=notrunc 2>/dev/null
"$pugmark" find "$demo" --sync 2>"$work/said" && fail "a foreign index was used"
grep -q 'another capture' "$work/said" || fail "the foreign index was not named"

# A capture that changed after its index is compared with all of it: other bytes where taking it does not look.
cp -r "$source/tests/captures/etmv4-a64" "$work/changed"
"$pugmark" index "$work/changed" --quiet || fail "index"
printf 'xyz' | dd of="$work/changed/trace.bin" bs=1 seek=5000 conv=notrunc 2>/dev/null
touch -d '+1 minute' "$work/changed/trace.bin"
"$pugmark" find "$work/changed" --sync 2>"$work/said" && fail "the index of a capture that changed was used"
grep -q 'another capture' "$work/said" || fail "the change was not named"

# Only a regular file, or nothing, is ever replaced.
mkfifo "$work/fifo"
ln -s "$work/behind" "$work/link"
mkdir "$work/folder"
for target in /dev/null "$work/fifo" "$work/folder"; do
    "$pugmark" index "$demo" --rebuild --output "$target" >/dev/null 2>"$work/said"
    [[ $? -eq 3 ]] || fail "index --output $target was not refused"
    grep -q "$target" "$work/said" || fail "what was refused is not named: $target"
done
[[ -c /dev/null && -p $work/fifo && -d $work/folder ]] || fail "index --output replaced what is no file"
"$pugmark" index "$demo" --rebuild --output "$work/link" >/dev/null 2>&1 || fail "index behind a link"
[[ -L $work/link && -s $work/behind ]] || fail "a link was replaced by an index"
exit 0
