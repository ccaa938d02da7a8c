#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The folder of a recording: whole or not at all, whatever fails or whoever ends it; and nothing in it is removed or replaced
# that no recording wrote.
set -u
bin=$1 source=$2 bad=0
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
wrong() { echo "$*"; bad=1; }
path=$source/tests/captures/etmv4-a64/path other=$source/tests/captures/etrace-rv64/path
record() { timeout 100 "$bin/pugmark" record --quiet --protocol etmv4 --limit 20000 --from "$path" "$@" 2>"$work/said"; }
listed() { (cd "$1" && find . | sort | xargs -d '\n' ls -di --time-style=full-iso 2>/dev/null && find . -type f -exec cksum {} +) 2>/dev/null; }
refused() { # FOLDER WORDS OPTIONS…: with 2, and nothing in it changed
    local folder=$1 words=$2 before code
    shift 2
    before=$(listed .)
    record --out "$folder" "$@"
    code=$?
    [[ $code == 2 ]] || wrong "$folder: exit $code, expected 2: $(head -n 1 said)"
    grep -q "$words.*--force" said || wrong "$folder: does not say '$words': $(head -n 1 said)"
    : >said
    [[ $(listed .) == "$before" ]] || wrong "$folder: something was touched"
}
: >said
record --out fresh || wrong "a new folder: $(cat said)"
same() { diff -r fresh "$1" >differ || wrong "$1 is not the recording: $(head -n 2 differ)"; }

# ---- what is there already ----
mkdir empty
chmod 750 empty
record --out empty && same empty
[[ $(stat -c %a empty) == 750 ]] || wrong "an empty folder lost its mode"
mkdir mine
echo mine >mine/trace.bin
refused mine trace.bin
record --out mine --force || wrong "--force: $(cat said)"
same mine
mkdir others
echo mine >others/notes
record --out others --force || wrong "--force: $(cat said)"
[[ $(cat others/notes) == mine ]] || wrong "--force took somebody's file"
rm others/notes
same others

# A recording is replaced as a whole, with the indexes of its traces, and what a longer one had.
timeout 100 "$bin/pugmark" record --quiet --protocol etrace --from "$other" --out again --path again/path 2>said || wrong "$(cat said)"
"$bin/pugmark" index --quiet again 2>said || wrong "index: $(cat said)"
[[ -e again/path && -e again/trace.bin.pugindex ]] || wrong "no path beside the trace, or no index"
record --out again || wrong "a recording over another one: $(cat said)"
same again
ln -s again by-link
record --out by-link || wrong "by a link: $(cat said)"
[[ -L by-link ]] || wrong "the link was replaced, and not the folder"
same again

# Something else in it, or something that changed.
for change in "echo mine >again/notes" "echo mine >>again/trace.bin" "echo mine >again/other.pugindex" "mkdir again/sub" \
    "mkdir again/program_3" "ln -s /etc/passwd again/link" "mv again/cpu_1.ini . && ln -s ../cpu_1.ini again" \
    "rm again/recording.manifest" "echo more >>again/recording.manifest" "mkfifo again/fifo" "cp fresh/trace.bin again/.hidden"; do
    rm -rf again
    cp -r fresh again
    bash -c "$change"
    refused again .
done
# A file of another length or of other bytes, each a reason of its own.
rm -rf again
cp -r fresh again
printf '\xff' | dd of=again/trace.bin bs=1 seek=100 conv=notrunc 2>/dev/null
cmp -s fresh/trace.bin again/trace.bin && wrong "nothing was changed"
refused again 'trace.bin was changed'

# ---- out of the folder ----
# What a former recording says of its files leads elsewhere: by its descriptions, its manifest, or links.
mkdir victim hostile
echo precious >victim/thesis.txt
hostile() {
    rm -rf hostile
    mkdir hostile
    ln -s ../victim hostile/program_5
    printf '[snapshot]\nversion=1.0\ndescription=made by pugmark record\n[device_list]\ndevice0=cpu_9.ini\n[trace]\nmetadata=trace9.ini\n' \
        >hostile/snapshot.ini
    printf '[device]\nname=cpu_9\nclass=core\ntype=ARMv8-A\n[dump0]\nfile=program_5/thesis.txt\naddress=0\nlength=1\n' >hostile/cpu_9.ini
}
for name in '' program_5/thesis.txt ../victim/thesis.txt "$work/victim/thesis.txt" program_5/../../victim/thesis.txt; do
    hostile
    if [[ $name ]]; then
        # With the size and the hash that the file has.
        mkdir sums
        cp victim/thesis.txt sums/trace.bin
        record --out sums/made --path sums/made/thesis.txt # a manifest to take the form from
        sum=$(sed -n '2s/ [^ ]*$//p' sums/made/recording.manifest)
        printf 'pugmark recording 1\n%s %s\n' "$sum" "$name" >hostile/recording.manifest
        rm -r sums
    fi
    refused hostile .
    record --out hostile --force
    [[ $(cat victim/thesis.txt) == precious && $(ls victim) == thesis.txt ]] || wrong "a file elsewhere was touched, by '$name'"
done
# The file that is named has the right size and hash, and lies elsewhere all the same.
rm -rf hostile victim
mkdir victim
cp -r fresh hostile
mv hostile/memory_0.bin victim
ln -s ../victim/memory_0.bin hostile/memory_0.bin
mkdir hostile/program_0
refused hostile .
record --out hostile --force || wrong "--force over a link: $(cat said)"
cmp -s victim/memory_0.bin fresh/memory_0.bin || wrong "a file was written by a link"
rm -rf hostile
cp -r fresh hostile
ln -s ../victim hostile/program_0
echo "$(sed -n 's/memory_0.bin/program_0\/memory_0.bin/p' fresh/recording.manifest)" >>hostile/recording.manifest
refused hostile .
record --out hostile --force || wrong "--force over a link: $(cat said)"
[[ -e victim/memory_0.bin ]] || wrong "a file was removed by a link to its folder"

# ---- folders that cannot be renamed ----
mkdir here
(cd here && record --out .) || wrong "the current folder: $(cat said)"
same here
(cd here && record --out .)
[[ $? == 2 ]] && grep -q 'current folder.*--force' said || wrong "a recording in the current folder: $(cat said)"
(cd here && record --out . --force) || wrong "--force: $(cat said)"
same here

# ---- a full disk, and signals ----

rm -rf again
cp -r fresh again
before=$(listed again)
if (ulimit -f 8; trap '' XFSZ; timeout 100 "$bin/pugmark" record --quiet --protocol etmv4 --from "$path" --out again --path file 2>said); then
    wrong "files were too large, and all went well"
fi
[[ $(listed again) == "$before" && ! -e file ]] || wrong "a recording that could not be written changed the one that was there"
(ulimit -f 8; trap '' XFSZ; timeout 100 "$bin/pugmark" record --quiet --protocol etmv4 --from "$path" --out none 2>said) && wrong "too large a trace"
[[ ! -e none ]] || wrong "a recording that could not be written left a folder"
[[ -z $(find . -name '*.[0-9a-f]*.[0-9]' -o -name '.recording*') ]] || wrong "something is left: $(find . -name '*.[0-9a-f]*.[0-9]')"
signal() { # SIGNAL FOLDER: while the path comes, slowly
    local pid code before after n
    mkfifo fifo
    before=$(listed "$2")
    env --default-signal=INT "$bin/pugmark" record --quiet --protocol etmv4 --from fifo --out "$2" --path file 2>said &
    pid=$!
    exec 4>fifo
    head -c 20000 "$path" >&4
    for ((n = 0; n < 300; n++)); do
        ls -A . "$2" 2>/dev/null | grep -q '\.[0-9a-f]*\.0$' && break
        sleep 0.02
    done
    ((n < 300)) || wrong "$1: no new folder was seen"
    kill -"$1" $pid
    wait $pid 2>/dev/null
    code=$?
    exec 4>&-
    ((code != 0)) || wrong "$1: exit 0"
    after=$(listed "$2")
    [[ $after == "$before" ]] || wrong "$1: $2 changed"
    [[ ! -e file && -z $(find . -name '*.[0-9a-f]*.0') ]] || wrong "$1: something is left: $(find . -name '*.[0-9a-f]*.0')"
    rm fifo
}
for name in INT TERM HUP; do
    signal $name none
    signal $name again
done
exit $bad
