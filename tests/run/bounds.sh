#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A few bytes of input that stand for gigabytes: what commands hold stays small, the output is whole and the same for any number
# of threads, and what a byte may stand for is a setting.
set -u
bin=$1 source=$2 bad=0
. "$source/tests/support/repeat.sh"
unset GLIBC_TUNABLES # limits are on memory
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# Sanitizers reserve more than there is, and take their time.
limit=200000 threads_limit=1000000 seconds=6
grep -qE '__asan_init|__tsan_init' "$bin/pugmark" && limit=unlimited threads_limit=unlimited seconds=60

wrong() { echo "$*"; bad=1; }
lacks_memory() { # as standard error says
    local text
    IFS= read -r -d '' text <said || true
    [[ $text == *memory* ]]
}
within() { (ulimit -v $limit && exec timeout 120 "$@"); }

# A loop of two instructions, and messages (ResourceFull) of 31 branches that repeat so often.
printf '\x01\x00\x7d\xfd' >loop.bin
ntrace() { # HREPEAT-BYTES MESSAGES
    printf '\x24\x0d\x00\x83'
    for ((i = 0; i < $2; i++)); do printf '\x6c\xc8\xfc\xfc\xfc\xfc\xfd'"$1"; done
}
program=(--protocol ntrace --image loop.bin@0x1000)

# Two messages, 2 * 16384 * 31 ranges: some 90 MB of text.
ntrace '\x00\x00\x13' 2 >few.nex
lines=$(within "$bin/pugmark" list --quiet "${program[@]}" few.nex | grep -c INSTR_RANGE)
[[ $lines == 1015808 ]] || wrong "list: $lines ranges of a few bytes"
lines=$(within "$bin/pugmark" pc --quiet "${program[@]}" few.nex | wc -l)
[[ $lines == 2031616 ]] || wrong "pc: $lines addresses of a few bytes"

# Three times as many, of which each piece's items were held: more memory than there is.
ntrace '\x00\x00\x13' 6 >more.nex
within "$bin/pugmark" timeline --quiet --jobs 1 --output made "${program[@]}" more.nex 2>said || wrong "timeline of a few bytes: exit $? within $limit KB: $(head -n 1 said)"

# The same by threads: pieces that are much larger than what may be held.
ntrace '\x13' 30000 >many.nex
for command in "list --type INSTR_RANGE" pc "list --format csv"; do
    want=$(within "$bin/pugmark" $command --quiet --jobs 1 "${program[@]}" many.nex | head -c 60000000 | cksum)
    for jobs in 2 5; do
        got=$(limit=$threads_limit within "$bin/pugmark" $command --quiet --jobs $jobs "${program[@]}" many.nex | head -c 60000000 | cksum)
        [[ $got == "$want" ]] || wrong "$command: $jobs threads give something else"
    done
done

# What a byte may stand for.
within "$bin/pugmark" list --expansion 1000 "${program[@]}" few.nex >out 2>said
code=$?
((code == 1)) || wrong "--expansion: exit $code"
(($(grep -c INSTR_RANGE out) <= 80000)) || wrong "--expansion: $(grep -c INSTR_RANGE out) ranges"
grep -q 'one message covers too much code' said || wrong "--expansion: no message: $(head -n 1 said)"
"$bin/pugmark" list --expansion 0 "${program[@]}" few.nex >out 2>said && wrong "--expansion 0 was taken"

# ---- every command, every protocol: no input of a megabyte needs 512 MiB. ----
# A share: dense trace of one encoder for each protocol, 50 KB; BOUNDS=all: of each, a megabyte, and one of damaged copies.
size=50000 captures=(etmv4-a64-cycles ptm-arm etmv3-arm-threads etrace-rv64-options ntrace-rv64-btm)
copies=(whole)
[[ ${BOUNDS-} == all ]] && size=1000000 copies=(whole damaged) && captures=($(cd "$source/tests/captures" && echo */))
data=524288
[[ $limit == unlimited ]] && data=unlimited size=30000 # nothing is measured then
commands=("list --packets --elements" "list --format jsonl" "list --by-time" "list --around $((size * 9 / 10))" pc "pc --by-thread" "stat --packets" info calls
    "calls --summary" "trace --ranges" "trace --ranges --last 10" "profile --stacks --format folded" "profile --stacks --format pprof" "profile --output made" "coverage --format lcov"
    "timeline --output made" "timeline --format ctf --output folder" "report --output made" "index --rebuild --full --elements --output made" "find --sync" itm)
fill() { # FOLDER whole|damaged: so many copies of its trace
    local seed
    cp -r "$1" dense && : >dense/trace.bin
    [[ $2 != whole ]] || repeat "$1/trace.bin" $((size / $(stat -c %s "$1/trace.bin") + 1)) >dense/trace.bin
    for ((seed = 1; $(stat -c %s dense/trace.bin) < size; seed++)); do
        perl "$source/tests/support/damage.pl" $seed 1000000 "$1/trace.bin" copy
        cat copy >>dense/trace.bin
    done
    truncate -s $size dense/trace.bin
}
for capture in "${captures[@]%/}" stm itm dwt osd; do
    folder=$source/tests/captures/$capture
    [[ -d $folder ]] || folder=$source/fuzz/captures/$capture
    for copy in "${copies[@]}"; do
        rm -rf dense && fill "$folder" $copy
        for command in "${commands[@]}"; do
            [[ ! -e folder ]] || rm -rf folder
            (ulimit -d $data && exec timeout 300 "$bin/pugmark" $command --quiet --jobs 2 dense) >/dev/null 2>said
            code=$?
            ((code <= 1)) || grep -qE ': no (ITM|source|call)' said && ! lacks_memory || wrong "$command of $copy $capture: exit $code within 512 MiB: $(head -n 1 said)"
        done
    done
done
# Debug information that is packed: 256 KB of file, 256 MB of nulls in it, as zlib's and as xz's.
if command -v perl >/dev/null && perl -MCompress::Zlib -e1 2>/dev/null; then
    cp -r "$source/examples/crash" bomb
    for section in .debug_aranges .zdebug_aranges $(command -v xz >/dev/null && echo .gnu_debugdata); do
        perl "$source/tests/support/packed_section.pl" "$source/examples/crash/crash" $section bomb/crash || { wrong "no $section"; continue; }
        for command in calls trace "report --output made"; do
            ([[ $limit == unlimited ]] || ulimit -d 131072; exec timeout 300 "$bin/pugmark" $command --quiet bomb) >out 2>said
            code=$?
            ((code <= 1)) && ! lacks_memory || wrong "$command with a packed $section: exit $code: $(head -n 1 said)"
        done
        "$bin/pugmark" trace bomb >out 2>said
        ! "$bin/pugmark" --version | head -n 1 | grep -q dwarf || grep -q 'crash: its debug information is left out' said || wrong "$section: nothing says that it is left out"
    done
fi
# Atoms that each stand for a whole loop's round, and for all the code that there is: ETMv4 in a branch to itself, and in 16 MB of NOPs.
printf '\x00\x00\x00\x14' >self.bin
head -c 16777216 /dev/zero | tr '\0' '\037' >nops.bin # not one instruction that branches
etmv4() { # BYTES OF ATOMS: ASYNC, TRACE INFO, an address with context, atoms
    printf '\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00\x85\x00\x08\x00\x00\x00\x00\x00\x00\x31'
    head -c "$1" /dev/zero | tr '\0' '\324'
}
etmv4 3000 >atoms.etm
arm=(--quiet --jobs 2 --protocol etmv4i --transport plain --core ARMv8-A --set TRCIDR0=0x28000ea1 --set TRCIDR1=0x4100f421 --set TRCIDR2=0x488
    --set TRCCONFIGR=0xc1)
for image in self nops; do
    for command in list pc "list --format jsonl" calls "stat" "profile" timeline "index --rebuild --elements --output made"; do
        (ulimit -d $data && exec timeout 300 "$bin/pugmark" $command "${arm[@]}" --image $image.bin@0x1000 atoms.etm) >out 2>said
        code=$?
        ((code <= 1)) && ! lacks_memory || wrong "$command of atoms over $image: exit $code within 512 MiB: $(head -n 1 said)"
    done
done
# Such code, walked from 500 places: what one walk made of it serves the others (it took 30 s).
{
    printf '\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x00'
    for ((at = 0; at < 500; at++)); do
        printf -v packets '\\x85\\x%02x\\x%02x\\x00\\x00\\x00\\x00\\x00\\x00\\x31\\xf7' $((at % 128)) $((8 + at / 128))
        printf "$packets"
    done
} >walks.etm
timeout 20 "$bin/pugmark" stat "${arm[@]}" --image nops.bin@0x1000 walks.etm >out 2>said
code=$?
((code <= 1)) && grep -qE '^ *2097[0-9]{6} +instructions' out || wrong "stat of walks through NOPs: exit $code in 20 s: $(head -n 1 said)"
# A snapshot in which as many sources write into a buffer, or into many, as may (they took 110 s).
for names in 1 4096; do
    mkdir -p many && rm -f many/*
    printf '[snapshot]\nversion=1.0\n[device_list]\n[trace]\nmetadata=t\n' >many/snapshot.ini
    printf '%064d' 0 >many/f
    {
        printf '[trace_buffers]\nbuffers='
        seq -s, $names
        for ((n = 1; n <= names; n++)); do printf '[%d]\nname=b%d\nfile=f\nformat=coresight\n' $n $n; done
        printf '[source_buffers]\n'
        for ((n = 0; n < 4096; n++)); do printf 's%d=b%d, b1\n' $n $((n % names + 1)); done
    } >many/t
    timeout $((5 * seconds)) "$bin/pugmark" info many >out 2>said
    (($? != 124)) && [[ $(grep -c "source s.*no such device" out) == $((names == 1 ? 4096 : 8191)) ]] ||
        wrong "info of 4096 sources in $names buffers: $(grep -c 'source s' out) in $((5 * seconds)) s: $(head -n 1 said)"
done
# Context ids, 100,000 of them (they took 15 s), and branches to addresses that differ in their upper bits alone (65,536 took 9 s).
if command -v perl >/dev/null; then
    perl -e 'binmode STDOUT; print "\0" x 11, "\x80\1\0"; print "\x82\0\x08\0\0\xb1", pack("V", $_), "\xf7" for 1 .. 100000' >contexts.etm
    perl -e 'binmode STDOUT; sub address { my ($low, $high) = @_; "\x9d" . chr($low >> 2 & 127) . chr($low >> 9 & 127) . "\0" x 4 . pack("v", $high) }
        print "\0" x 11, "\x80\1\0\x82\0\x08\0\0\x31";
        for my $to (0x100, 0x200, 0x300) { print address(0x1000, 0), "\xf7", address($to, $_), "\xf7" for 1 .. 65535 }' >upper.etm
    printf '\x00\x00\x1f\xd6' >register.bin # BR X0
    for trace in contexts upper; do
        for command in stat profile "profile --stacks" "report --output made" calls "timeline --output made"; do
            (ulimit -d $data && exec timeout $seconds "$bin/pugmark" $command "${arm[@]}" --image register.bin@0x1000 $trace.etm) >out 2>said
            code=$?
            ((code <= 1)) && ! lacks_memory || wrong "$command of many $trace: exit $code within 512 MiB and $seconds s: $(head -n 1 said)"
        done
    done
    count=$("$bin/pugmark" stat "${arm[@]}" --image register.bin@0x1000 contexts.etm | awk '/ instructions/ { print $1 }')
    [[ $count == 100000 ]] || wrong "$count instructions in 100,000 contexts"
fi
# A function that calls itself, some 1.4 million times: stacks as deep as they may be. A summary recursed as deep and crashed; with a line,
# or a sample, for each stack of all its frames there were 16 GB of text and 6 GB of memory.
printf '\x00\x00\x00\x94' >recursion.bin # BL to itself
etmv4 60000 >recursion.etm
for command in "calls --summary" "profile --stacks --format folded" "profile --stacks --format pprof" "timeline --output made"; do
    (ulimit -d $data && exec timeout $((5 * seconds)) "$bin/pugmark" $command "${arm[@]}" --image recursion.bin@0x1000 recursion.etm) >out 2>said
    code=$?
    ((code <= 1)) && ! lacks_memory || wrong "$command of deep recursion: exit $code within 512 MiB and $((5 * seconds)) s: $(head -n 1 said)"
    (($(stat -c %s out) < 20000000)) || wrong "$command of deep recursion: $(stat -c %s out) bytes"
done
"$bin/pugmark" profile --stacks --format folded "${arm[@]}" --image recursion.bin@0x1000 recursion.etm >out
count=$("$bin/pugmark" stat "${arm[@]}" --image recursion.bin@0x1000 recursion.etm | awk '/ instructions/ { print $1 }')
[[ $(awk '{ sum += $NF } END { print sum }' out) == "$count" ]] || wrong "folded stacks of deep recursion weigh not $count"
# Branches with link to 100,000 places: each is a function, and all of them are called by one.
if command -v perl >/dev/null; then
    printf '\x00\x00\x3f\xd6\xff\xff\xff\x17' >link.bin # BLR X0; B back
    perl -e 'binmode STDOUT; print "\xc0\x03\x5f\xd6" x 100001' >returns.bin
    perl -e 'binmode STDOUT; sub address { my ($low) = @_; "\x9d" . chr($low >> 2 & 127) . chr($low >> 9 & 127) . pack("Q<", $low) =~ s/^..//sr }
        print "\0" x 11, "\x80\1\0\x82\0\x08\0\0\x31"; print "\xf7", address(0x1000000 + 4 * $_), "\xf7", address(0x1004), "\xf7" for 1 .. 100000' >places.etm
    (ulimit -d $data && exec timeout $seconds "$bin/pugmark" calls --summary "${arm[@]}" --image link.bin@0x1000 --image returns.bin@0x1000000 places.etm) >out 2>said
    code=$?
    ((code <= 1)) || wrong "calls --summary of many functions: exit $code within $seconds s: $(head -n 1 said)"
fi
# A message for nearly each of 10 million bytes: what two threads keep of them is bounded, as what elements they keep is. Messages for
# which there is no memory are lost.
if command -v perl >/dev/null; then
    etmv4 0 >noisy.etm
    perl -e 'print "\x70\x70\x70\x70\x70\x70\x70\xf7" x $ARGV[0]' $([[ $limit == unlimited ]] && echo 200000 || echo 1250000) >>noisy.etm
    for jobs in 1 2; do
        ([[ $limit == unlimited ]] || ulimit -d 150000; exec "$bin/pugmark" stat "${arm[@]:1}" --jobs $jobs --image atoms.etm@0x1000 noisy.etm) 2>said$jobs | grep -v 'seconds\|second\|element' >out$jobs
    done
    cmp said1 said2 && cmp out1 out2 || wrong "two threads tell other messages than one within 150 MB: $(tail -n 1 said2)"
fi
# Names: 30,000 that are the tails of one text, in a megabyte; and one of 30 MB, for each of some 4,000 calls.
etmv4 60 >atoms.etm
if "$bin/pugmark" --version | head -n 1 | grep -q elf && command -v perl >/dev/null; then
    perl "$source/tests/support/long_names.pl" tails.elf 30000 250000
    perl "$source/tests/support/long_names.pl" long.elf 1 30000000
    for program in tails long; do
        for command in calls "trace --last 5" profile "report --output made" "timeline --output made"; do
            (ulimit -d $data && exec timeout 60 "$bin/pugmark" $command "${arm[@]}" --elf $program.elf atoms.etm) >out 2>said
            code=$?
            ((code == 0)) || wrong "$command with $program.elf: exit $code within 512 MiB and a minute: $(head -n 1 said)"
        done
    done
    "$bin/pugmark" calls "${arm[@]}" --elf long.elf atoms.etm >out
    longest=$(awk '{ if (length($0) > most) most = length($0) } END { print most + 0 }' out)
    ((longest > 1000 && longest <= 70000)) || wrong "calls: a line of $longest bytes for a name of 30 MB"
    # 5,000 units of debug information with one table of 250,000 lines: twice as many took 13 GB, and two minutes.
    if "$bin/pugmark" --version | head -n 1 | grep -q dwarf; then
        perl "$source/tests/support/shared_lines.pl" shared.elf 5000 250000
        for command in "coverage --format lcov" "trace --last 5000" "report --output made"; do
            (ulimit -d $data && exec timeout 60 "$bin/pugmark" $command "${arm[@]}" --elf shared.elf atoms.etm) >out 2>said
            code=$?
            ((code == 0)) || wrong "$command with lines that units share: exit $code within 512 MiB and a minute: $(head -n 1 said)"
            grep -q 'shared.elf: its debug information says more than' said || wrong "$command: nothing says that lines are left out"
        done
        # 100,000 functions, and one of 65,000 lines: each function was looked for among all, each line among all of its function.
        perl "$source/tests/support/many_functions.pl" functions.elf 100000 1
        perl "$source/tests/support/many_functions.pl" lines.elf 1 65000
        for program in functions lines; do
            (ulimit -d $data && exec timeout $seconds "$bin/pugmark" profile --format llvm "${arm[@]}" --elf $program.elf atoms.etm) >out 2>said
            code=$?
            ((code == 0)) || wrong "profile --format llvm of many $program: exit $code within 512 MiB and $seconds s: $(head -n 1 said)"
            (($(grep -c '^f' out) == $([[ $program == functions ]] && echo 100000 || echo 1))) || wrong "profile --format llvm: not many $program"
        done
        # 400 bytes of it, in which 2^60 ways lead to the last entry.
        perl "$source/tests/support/crossed_entries.pl" crossed.elf 60
        timeout 60 "$bin/pugmark" trace "${arm[@]}" --elf crossed.elf atoms.etm >out 2>said || wrong "trace with crossed entries: exit $? in a minute"
        grep -q 'crossed.elf: its debug information says more than' said || wrong "trace: nothing says that entries are left out"
    fi
fi
exit $bad
