#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Outputs: one that is an input is refused before anything is touched, whatever names it has; what stood there before stays
# until the new one is whole; a link's target is replaced, and keeps its mode; devices and FIFOs are written as they are.
set -u
bin=$1 source=$2 bad=0
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
wrong() { echo "$*"; bad=1; }
cp -r "$source/tests/captures/etmv4-a64" capture
chmod -R u+w capture

# A path that is longer than what is read at once: jumps among 30,000 places.
perl -e 'my $at = 1; print join("\n", map { $at = ($at * 1103515245 + 12345) % 2147483648; sprintf "%x", 0x10000 + 4 * ($at / 65536 % 30000) } 1 .. 150000), "\n"' >addresses
perl -e '
  my $code = pack("L<", 0xd61f0000) x 30000; # br x0
  print pack("a16 S<S<L<Q<Q<Q<L<S<S<S<S<S<S<", "\x7fELF\x02\x01\x01", 2, 183, 1, 0x10000, 64, 0, 0, 64, 56, 1, 0, 0, 0),
        pack("L<L<Q<Q<Q<Q<Q<Q<", 1, 5, 120, 0x10000, 0x10000, length $code, length $code, 4), $code;' >jumps
"$bin/pugmark" record --quiet --from addresses --elf jumps --path long || wrong "a long path: exit $?"
[[ $(stat -c %s long) -gt 262144 ]] || wrong "the path is too short to test anything"

untouched() { # FILE COMMAND…: refused with 2, and FILE is what it was
    local file=$1 code sum
    shift
    sum=$(cksum <"$file")
    timeout 60 "$bin/pugmark" "$@" >out 2>said
    code=$?
    ((code == 2)) || wrong "$*: exit $code, expected 2: $(head -n 1 said)"
    [[ $(cksum <"$file") == "$sum" ]] || wrong "$*: $file was touched"
    grep -q 'same file\|both' said || wrong "$*: does not say why: $(head -n 1 said)"
}
ln -s long link
ln long hard
mkdir below
for name in long link hard ./long below/../long "$PWD/long"; do
    untouched long record --quiet --from long --path "$name" --protocol etmv4 --out new
    untouched long record --quiet --from "$name" --path long
    untouched long record --quiet --from long --perf "$name" --protocol etmv4
done
[[ ! -e new ]] || wrong "a refused recording left a folder"
untouched long record --quiet --from capture/path --path long --perf long --protocol etmv4
"$bin/pugmark" profile --quiet -o saved capture || wrong "profile: exit $?"
ln saved saved.hard
for command in "profile" "merge" "report" "coverage" "profile --format folded"; do
    untouched saved $command saved -o saved
    untouched saved $command saved -o saved.hard
done
untouched saved diff saved capture -o saved
untouched saved diff capture saved -o saved.hard
# The files that a capture names.
ln -s capture/trace.bin trace.link
for file in capture/trace.bin capture/snapshot.ini capture/trace.ini capture/memory_0.bin trace.link "$(ls capture/cpu_*.ini | head -n 1)"; do
    for command in profile report "timeline --format chrome" coverage; do
        untouched "$(readlink -f "$file")" $command capture -o "$file"
    done
done
untouched capture/trace.bin index capture --output capture/trace.bin
cp "$source/examples/crash/crash" program
untouched program profile --elf program@0 capture -o program
untouched program timeline --format chrome --dso x=program capture -o program
cp "$source/examples/demo/trace.bin" raw
cp /dev/null parameters
untouched raw profile --protocol etmv4 raw -o raw
printf 'packet 1 0 2b\n' >lines
untouched lines encode --set src_bits=8 lines -o lines

# An index beside the trace, that is a link, is not written: a capture may hold it.
cp -r "$source/examples/demo" linked
chmod -R u+w linked
for target in "$work/elsewhere" "$work/lines"; do
    ln -sf "$target" linked/trace.bin.pugindex
    sum=$(cat "$target" 2>/dev/null | cksum)
    for options in "" --rebuild; do
        # shellcheck disable=SC2086
        "$bin/pugmark" index --no-sandbox $options linked >out 2>said
        [[ $? == 3 ]] && grep -q 'link' said || wrong "index $options by a link: $(head -n 1 said)"
    done
    [[ $(cat "$target" 2>/dev/null | cksum) == "$sum" ]] || wrong "index wrote by a link"
done
[[ ! -e elsewhere ]] || wrong "index made a file by a link"
"$bin/pugmark" index --quiet linked --output elsewhere 2>said && [[ -s elsewhere ]] || wrong "index --output: $(head -n 1 said)"

# What fails leaves what was there.
head -c 200000 long >cut
printf 'x' | dd of=cut bs=1 seek=100000 conv=notrunc 2>/dev/null
dd if=/dev/zero of=cut bs=1 seek=150000 count=64 conv=notrunc 2>/dev/null
for options in "--path" "--protocol etmv4 --out new --path" "--protocol etmv4 --perf"; do
    echo former >file
    "$bin/pugmark" record --quiet --from cut $options file >out 2>said
    [[ $? == 3 ]] || wrong "record $options of a damaged path: exit $?"
    [[ $(cat file) == former ]] || wrong "record $options: a damaged path replaced a file"
    rm -rf new
done
[[ $(find . -maxdepth 1 -name 'file.*' -o -maxdepth 1 -name 'new*') == "" ]] || wrong "something is left: $(ls)"

# A link's target is replaced, with its mode, and not the link.
written() { # COMMAND… : the option for the output is the last word
    rm -f fifo
    echo former >real
    chmod 640 real
    ln -sf real way
    timeout 60 "$bin/pugmark" "$@" way >out 2>said || wrong "$*: exit $?: $(head -n 1 said)"
    [[ -L way && $(stat -c %a real) == 640 ]] || wrong "$*: not the target of the link, or not its mode"
    grep -q former real && wrong "$*: nothing was written"
    ln -sf nowhere way
    rm -f nowhere
    timeout 60 "$bin/pugmark" "$@" way >out 2>said || wrong "$*: exit $?: $(head -n 1 said)"
    cmp -s nowhere real || wrong "$*: other bytes by a link to nothing"
    mkfifo fifo
    cat fifo >got &
    timeout 60 "$bin/pugmark" "$@" fifo 2>said || wrong "$*: FIFO: exit $?: $(head -n 1 said)"
    wait $!
    [[ -p fifo ]] && cmp -s got real || wrong "$*: other bytes through a FIFO"
    timeout 60 "$bin/pugmark" "$@" /dev/null 2>said || wrong "$*: /dev/null: $(head -n 1 said)"
    [[ -c /dev/null ]] || wrong "$*: /dev/null was replaced"
}
written record --quiet --from capture/path --path
written record --quiet --from capture/path --protocol etmv4 --limit 5000 --perf
written record --quiet --from capture/path --protocol etmv4 --limit 5000 --force --out new --path
written profile --quiet --jobs 1 capture -o
written report --quiet --jobs 1 --title it capture -o
exit $bad
