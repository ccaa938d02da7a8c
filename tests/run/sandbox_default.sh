#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What commands can do where nothing is said: they read below the folders that their words name and write their outputs; with
# every version of Landlock's interface, and without it.
set -u
bin=$1 source=$2 bad=0
beside=$(readlink -f "$(dirname "$1")") # not in /tmp, where it may write and read
[[ $beside/ == /tmp/* ]] && beside=/var/tmp
work=$(mktemp -d -p "$beside")
trap 'rm -rf "$work"' EXIT
wrong() { echo "$*"; bad=1; }
mkdir "$work"/{inside,outside,home} || exit 1
export HOME=$work/home TMPDIR=$work/temporary
mkdir "$TMPDIR"
cd "$work/inside" || exit 1
cp -r "$source/examples/crash" capture
chmod -R u+w capture
p=$bin/pugmark
"$p" --version | grep -q '^sandbox: Landlock, version [1-9]' || { echo "no Landlock here"; exit 77; }
top=$("$p" --version | sed -n 's/^sandbox: .* //p')

# ---- commands do what they do ----
"$p" record --quiet --protocol etmv4 --from capture/path --perf crash.data 2>said || wrong "record --perf: $(head -n 1 said)"
"$p" profile --stacks -o saved capture 2>said || wrong "profile: $(head -n 1 said)"
for command in "list capture" "pc --by-thread capture" "calls capture" "info capture" "trace --ranges capture" "report capture" "report saved" \
    "coverage --format html capture" "profile --format folded capture" "timeline --format speedscope capture" "stat --jobs 3 capture" \
    "profile crash.data" "diff --json saved capture" "list --around 100 capture" "trace --elf capture/crash capture" \
    "list capture/snapshot.ini" "calls --params parameters --elf capture/crash capture/trace.bin"; do
    printf 'protocol = etmv4\n' >parameters
    # shellcheck disable=SC2086
    "$p" $command --no-sandbox 2>said.right | sed 's/[0-9.]* MB\/s.*//' >right
    for level in 0 1 2 3 "$top"; do
        # shellcheck disable=SC2086
        PUGMARK_LANDLOCK=$level "$p" $command 2>said | sed 's/[0-9.]* MB\/s.*//' >out
        [[ $command == stat* || $command == report* ]] || cmp -s right out || wrong "$command, level $level: other output"
        [[ $(wc -l <right) == $(wc -l <out) ]] || wrong "$command, level $level: other lines"
        diff said.right said >differ || wrong "$command, level $level: other messages: $(head -n 2 differ)"
    done
done
for level in 0 1 2 3 "$top"; do
    export PUGMARK_LANDLOCK=$level
    for command in "profile capture -o" "report capture -o" "merge saved saved -o" "timeline --format chrome capture -o" "index --quiet capture --output"; do
        rm -f made way ../outside/made
        # shellcheck disable=SC2086
        "$p" $command made 2>said && [[ -s made ]] || wrong "$command, level $level: $(head -n 1 said)"
        ln -s ../outside/made way
        # shellcheck disable=SC2086
        "$p" $command way 2>said && [[ -s ../outside/made && -L way ]] || wrong "$command a link, level $level: $(head -n 1 said)"
        rm -f ../outside/made way
    done
    rm -rf ctf
    "$p" timeline --format ctf capture -o ctf 2>said && [[ -s ctf/metadata ]] || wrong "a folder, level $level: $(head -n 1 said)"
    [[ $("$p" profile capture -o /dev/stdout 2>said | wc -c) -gt 100 ]] || wrong "/dev/stdout, level $level: $(head -n 1 said)"
    "$p" profile capture -o /dev/stdout 2>said >redirected && [[ -s redirected ]] || wrong "/dev/stdout to a file, level $level: $(head -n 1 said)"
    "$p" index --quiet capture 2>said && [[ -s capture/trace.bin.pugindex ]] || wrong "index, level $level: $(head -n 1 said)"
    rm -f capture/trace.bin.pugindex
done
# An index that lies there is completed, as ever.
unset PUGMARK_LANDLOCK
cp -r "$source/examples/demo" demo
chmod -R u+w demo
"$p" index --quiet demo && cp demo/trace.bin.pugindex marks
"$p" list --around $(($(stat -c %s demo/trace.bin) / 2)) --radius 100 demo >out 2>said || wrong "list --around: $(head -n 1 said)"
cmp -s demo/trace.bin.pugindex marks && wrong "an index was not completed"

# ---- and nothing else ----
# A snapshot that names a file elsewhere, by its path, "../" or a link.
cp capture/crash ../outside/program
cp -r capture honest
for name in ../../outside/program link; do
    rm -rf hostile
    cp -r honest hostile
    rm hostile/crash
    ln -s ../../outside/program hostile/link
    sed -i "s|^file=crash|file=$name|" hostile/cpu_0.ini
    "$p" pc --no-sandbox hostile 2>said | cmp -s - <("$p" pc capture 2>/dev/null) || wrong "--no-sandbox: $name is not read: $(head -n 1 said)"
    for level in 1 2 3 "$top"; do
        PUGMARK_LANDLOCK=$level "$p" pc hostile >out 2>said && wrong "level $level: $name was read"
        [[ -s out ]] && wrong "level $level: $name was read"
        grep -q 'ermission denied' said && grep -q 'no-sandbox' said || wrong "level $level: does not say why: $(head -n 2 said)"
    done
    PUGMARK_LANDLOCK=0 "$p" pc hostile >out 2>said || wrong "level 0: $(head -n 1 said)"
    "$p" pc --elf ../outside/program@0@SOURCE=0x10 hostile >out 2>said || wrong "a folder of an option: $(head -n 1 said)"
done
# The home folder is not read because it is the current one.
cp -r hostile "$HOME/capture"
cp ../outside/program "$HOME/program"
sed -i 's|^file=.*|file=../program|' "$HOME/capture/cpu_0.ini"
(cd "$HOME" && "$p" pc capture >out 2>said) && wrong "the home folder was read"
(cd "$HOME" && cp -r ../inside/honest . && "$p" pc honest >out 2>said) || wrong "a capture in the home folder: $(head -n 1 "$HOME/said")"
# Where there is none, only --sandbox fails.
PUGMARK_LANDLOCK=0 "$p" list capture >out 2>said || wrong "without Landlock: $(head -n 1 said)"
PUGMARK_LANDLOCK=0 "$p" list --sandbox capture >out 2>said
[[ $? == 3 ]] && grep -q 'not on this system' said || wrong "--sandbox without Landlock: $(head -n 1 said)"
PUGMARK_LANDLOCK=0 "$p" --version | grep -q '^sandbox: none' || wrong "--version without Landlock"
exit $bad
