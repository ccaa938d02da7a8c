#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --sandbox: commands do what they do, and cannot write anywhere else.
set -u
bin=$1 source=$2 bad=0
beside=$(readlink -f "$(dirname "$1")") # not in /tmp, where it may write
[[ $beside/ == /tmp/* ]] && beside=/var/tmp
work=$(mktemp -d -p "$beside")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
cp -r "$source/examples/demo" demo
wrong() { echo "$*"; bad=1; }
if ! "$bin/pugmark" info --sandbox demo >/dev/null 2>said && grep -q 'not on this system' said; then
    echo "no Landlock here"
    exit 77
fi
for command in list "list --jobs 3" pc calls info "trace --ranges" "profile --format folded" timeline; do
    "$bin/pugmark" $command demo >right 2>/dev/null
    "$bin/pugmark" $command --sandbox demo >out 2>said || wrong "$command: $(head -n 1 said)"
    cmp -s right out || wrong "$command: other output"
done
mkdir there other
"$bin/pugmark" profile --sandbox --output there/made demo 2>said && [[ -s there/made ]] || wrong "--output: $(head -n 1 said)"
"$bin/pugmark" timeline --format ctf --sandbox --output there/ctf demo 2>said && [[ -s there/ctf/metadata ]] || wrong "a folder: $(head -n 1 said)"
"$bin/pugmark" index --quiet --sandbox demo 2>said && [[ -s demo/trace.bin.pugindex ]] || wrong "index: $(head -n 1 said)"
# A look beside what was to be read adds nothing to a file.
cp demo/trace.bin.pugindex marks
"$bin/pugmark" list --around 100 --sandbox demo >out 2>said || wrong "list --around: $(head -n 1 said)"
cmp -s demo/trace.bin.pugindex marks || wrong "list --around wrote into the index"
# Temporary files are where TMPDIR says.
mkdir temporary
for command in "pc --by-thread" "timeline --format speedscope"; do
    "$bin/pugmark" $command demo >right 2>/dev/null
    TMPDIR=$work/temporary "$bin/pugmark" $command --sandbox demo >out 2>said || wrong "$command: $(head -n 1 said)"
    cmp -s right out || wrong "$command: other output"
    rmdir temporary && mkdir temporary || wrong "$command: a temporary file is left"
done
# Who needs none does not look there.
: >no-folder
TMPDIR=$work/no-folder "$bin/pugmark" list --sandbox demo >out 2>said || wrong "TMPDIR is no folder: $(head -n 1 said)"
"$bin/pugmark" list demo 2>said | cmp -s - out || wrong "TMPDIR is no folder: other output"
# A link that leads out of there.
ln -s ../other/made there/link
"$bin/pugmark" profile --sandbox --output there/link demo 2>said
[[ $? == 3 && ! -e other/made ]] || wrong "it wrote where nothing said so"
grep -q 'denied' said || wrong "it does not say why: $(head -n 1 said)"
exit $bad
