#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Small inputs that stand for hours: a signal ends a command within 100 ms, at any time, and nothing that is not whole stays. Of
# some tries the shortest counts, as a busy machine takes its time.
#   interrupt.sh BIN SOURCE
set -u
bin=$1 source=$2
command -v perl >/dev/null || { echo "skipped: needs perl"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
limit=100 bad=0
grep -qE '__asan_init|__tsan_init' "$bin/pugmark" && limit=1000

# A path of one block that ran 2^34 times; a message of E-Trace that stands for 8 million branches, again and again; a loop.
perl -e '
    sub leb { my ($n) = @_; my $o = ""; while ($n > 127) { $o .= chr($n & 127 | 128); $n >>= 7; } $o . chr($n) }
    my $events = leb(1) . leb(1) . leb(2 << 34);
    print "pugpath\x01" . leb(1) . leb(0) . leb(1) . "B" . leb(0) . leb(0x10000) . leb(4) . "\0\0\0\x14" .
        "E" . leb(0) . leb(0) . leb(length $events) . $events . "Z"' >long.path
printf '\x01\x00\x7d\xfd' >loop.bin
{
    printf '\x24\x0d\x00\x83'
    for ((i = 0; i < 2000; i++)); do printf '\x6c\xc8\xfc\xfc\xfc\xfc\xfd\x00\x00\x13'; done
} >long.nex
"$bin/pugmark" record --quiet --protocol etmv4 --from "$source/tests/captures/etmv4-a64/path" --out short || exit 1
ntrace=(--quiet --protocol ntrace --image loop.bin@0x1000)

# ends SIGNAL COMMAND...: milliseconds from the signal to the end, the least of five; and its own signal is what it ends by.
ends() {
    perl -MTime::HiRes=time,sleep -MPOSIX=:sys_wait_h -e '
        my ($signal, @command) = @ARGV;
        my $least = 1e9;
        for my $try (1 .. 5) {
            my $child = fork // die;
            if (!$child) {
                $SIG{INT} = "DEFAULT"; # which a shell has its jobs ignore
                open STDOUT, ">", "out" or die;
                open STDERR, ">", "said" or die;
                exec @command or die;
            }
            sleep 0.2 + 0.1 * $try;
            if (waitpid($child, WNOHANG)) { print "it ended by itself: $?\n"; exit 1 }
            my $sent = time;
            kill $signal, $child;
            waitpid $child, 0;
            my $took = 1000 * (time - $sent);
            $least = $took if $took < $least;
            if ($? == 0) { print "it ended as if it were done\n"; exit 1 }
            last if $least <= 50;
        }
        printf "%d\n", $least' "$@"
}
check() {
    local took
    took=$(ends "$@")
    [[ $took =~ ^[0-9]+$ ]] && ((took <= limit)) || { echo "$*: ${took} ms"; bad=1; }
}
for signal in INT TERM; do
    check $signal "$bin/pugmark" record --quiet --protocol etmv4 --expansion 4000000000 --from long.path --out none
    check $signal "$bin/pugmark" record --quiet --protocol etmv4 --expansion 4000000000 --from long.path --perf none
    check $signal "$bin/pugmark" pc --quiet --expansion 4000000000 --verify long.path short
    for command in list pc stat calls profile "report --output made" "timeline --output made" "index --rebuild --elements --output made"; do
        # shellcheck disable=SC2086
        check $signal "$bin/pugmark" $command "${ntrace[@]}" long.nex
    done
done
for name in none made; do
    [[ ! -e $name ]] || { echo "$name was left, and is not whole"; bad=1; }
done
left=$(find . -mindepth 1 -name '*pugmark*' -o -mindepth 1 -name '.*' | head)
[[ -z $left ]] || { echo "left: $left"; bad=1; }
exit $bad
