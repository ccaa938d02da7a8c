#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A perf.data with its program, with another build of it, with a file of another build id, and without:
# a word about the cause and an exit code for what is wrong, neither for what is right.
#   wrong_perf.sh BIN SOURCE
set -u
bin=$1 source=$2
command -v qemu-aarch64 >/dev/null || { echo "there is no qemu-user here"; exit 77; }
command -v clang >/dev/null && command -v ld.lld >/dev/null || { echo "there is no clang with lld here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
bad=0

# ends NAME CODE PATTERN COMMAND...: it ends with this code, and says something like this.
ends() {
  local name=$1 code=$2 pattern=$3 got=0 text
  shift 3
  text=$("$bin/pugmark" "$@" 2>&1 >/dev/null) || got=$?
  if [[ $code == 0 ]]; then
    [[ $got == 0 && $text != *"something is wrong"* ]] && return
  else
    [[ $got == "$code" ]] && grep -qE "^  \* .*($pattern)" <<<"$text" && return
  fi
  echo "$name: expected '$pattern' and $code, got $got and '$text'"
  bad=1
}

# capture NAME PROGRAM: a perf.data of it.
capture() {
  "$bin/pugmark" record --quiet --path "$1.path" -- "./$2" 1 >/dev/null &&
    "$bin/pugmark" record --quiet --from "$1.path" --protocol etmv4 --perf "$1.data" || exit 1
}

# A quarter on, the text lacks 8 bytes.
rebuild() {
  perl -0777 -e 'my $file = <>; my ($table, $count) = (unpack("Q<", substr $file, 32), unpack("v", substr $file, 56));
    for my $n (0 .. $count - 1) {
      my ($type, $flags, $at, undef, undef, $size) = unpack("V2Q<4", substr $file, $table + 56 * $n);
      next unless $type == 1 && $flags & 1;
      my $text = substr $file, $at, $size;
      substr($text, $size / 4 & ~7, 8) = "";
      substr($file, $at, $size) = $text . "\0" x 8;
    }
    print $file' "$1"
}

# build NAME OPTIONS...: the program of tests/truth.
build() {
  clang --target=aarch64-linux-gnu -mno-outline-atomics -ffreestanding -nostdlib -static -fuse-ld=lld -fno-stack-protector \
    -Wno-unused-command-line-argument -o "$1" "${@:2}" "$source/tests/truth/system.c" "$source/tests/truth/mixture.c" || exit 1
}

build plain -O2 -Wl,--build-id=none
build slow -O1 -Wl,--build-id=none
capture plain plain
for command in pc stat profile list calls; do ends "the right program" 0 '' $command plain.data; done
rebuild plain >other
for command in pc stat profile list calls; do
  ends "another build" 1 'does not match the trace: [0-9,]+ contradictions?' $command --dso "$work/plain=other" plain.data
done
ends "another build" 1 'no build id tells whether other is the .*/plain that ran' pc --dso "$work/plain=other" plain.data
ends "another build, by the end of its path" 1 'does not match the trace' pc --dso "$(basename "$work")/plain=other" plain.data
for command in pc stat profile list calls info; do
  code=0
  said=$("$bin/pugmark" $command --dso plan=other plain.data 2>&1 >/dev/null) || code=$?
  [[ $code == 2 && $said == "pugmark: --dso plan: not one that ran; there are "*plain* ]] && continue
  echo "$command --dso plan=other: got $code and '$said'"
  bad=1
done
ends "another program" 1 'does not match the trace' pc --dso "$work/plain=slow" plain.data
mv plain away
ends "no program" 1 'came [0-9,]+ times to .*/plain, whose text is missing: not below' pc plain.data
for command in pc list trace calls timeline stat profile; do
  code=0
  said=$("$bin/pugmark" $command --dso another plain.data 2>&1 >/dev/null) || code=$?
  [[ $code == 2 && $said == "pugmark: --dso another: not one that ran; there are "*plain* ]] && continue
  echo "$command --dso another: got $code and '$said'"
  bad=1
done
mv away plain

# A name that would steer a terminal is written out.
cp plain $'red\e[31m'
capture red $'red\e[31m'
rm $'red\e[31m'
ends "a name with control bytes" 1 'came [0-9,]+ times to .*/red\\x1b\[31m, whose text is missing' pc red.data

# So is one with C1, which some terminals take as commands, and with bytes that are no text.
odd=$'odd\xc2\x9b31m\xff'
cp plain "$odd"
capture odd "$odd"
rm "$odd"
ends "a name with C1 and no UTF-8" 1 'came [0-9,]+ times to .*/odd\\xc2\\x9b31m\\xff, whose text is missing' pc odd.data

# With build ids nothing has to be guessed.
build named -O2 -Wl,--build-id
capture named named
ends "the right program" 0 '' pc named.data
build named -O1 -Wl,--build-id
ends "another build id" 1 'to .*/named, whose text is missing: .*another build id' pc named.data
exit $bad
