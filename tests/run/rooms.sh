#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The rooms of docs/architecture.md: each includes private headers only as its row there allows, no protocol those
# of another, and only some rooms open files.
set -eu
cd "$2"
# Only src/tree includes its private header. What others may ask of a tree is in tree/embed.h, for the scheduler, the
# index, captures, their survey and tests; each new user of it is one more place that knows how trees work, and counts here.
users=31
if grep -rnE '#include "(tree_internal|tree/tree_internal|tree/slots)\.h"' src tools compat cluster recorder fuzz bench tests \
    --include='*.[ch]' | grep -v '^src/tree/'; then
  echo "these include the private header of src/tree in place of tree/embed.h"
  exit 1
fi
found=$(grep -rl '#include "tree/embed.h"' src tools compat cluster recorder fuzz bench tests --include='*.[ch]' |
  grep -v '^src/tree/' | sort)
if [[ $(wc -l <<<"$found") -gt $users ]]; then
  echo "tree/embed.h has $(wc -l <<<"$found") users, more than $users: $found"
  exit 1
fi
if grep -vE '^(src/(schedule|index|capture|perfdata)/|src/diagnose/survey\.c$|(tests|tools/pugmark/index)/)' <<<"$found"; then
  echo "these use tree/embed.h and are neither scheduler, index, capture, survey nor test"
  exit 1
fi
# No code asks which protocol it is, except where a foreign format has another word for it.
names=$(sed -nE 's/^    \.name = "([^"]+)",$/\1/p' src/protocol/*/*.c | paste -sd'|')
[[ $names == *ETMV4I* && $names == *OSD-STM* ]]
if grep -rnE "\"($names)\"" src --include='*.[ch]' | grep -vE '^src/(protocol|perfdata/info\.c|capture/ctrace\.c)'; then
  echo "these know protocols by name"
  exit 1
fi
find src -name '*.[ch]' | sort | perl -e '
  my %rooms = map { my ($room, @others) = split; $room => {map { $_ => 1 } $room, @others} } split /\n/, <<ROWS;
base
text base
element base
log base
isa base
transport base
files text base
image isa files base
counts image element base
protocol counts image isa transport base
tree protocol transport image isa log counts base
listing tree log element base
disasm isa base
calls image element base
events capture swo names image element base
items capture names image element base
rtos items events capture calls names image files element base
timeline rtos items events export calls capture swo names element text base
schedule tree image counts log files element base
index schedule tree files base
cursor index schedule tree image base
diagnose tree transport image base
names files text base
snapshot tree transport files base
params tree files base
ctrace files base
swo image element base
live files base
capture live ctrace swo snapshot params schedule tree transport image counts log files element base
profile rtos items image capture calls schedule names counts base
export profile names text files base
check rtos items export profile calls swo diagnose capture image names text base
correlate capture swo tree element base
debug capture calls names image isa files element base
perfdata capture image tree files base
waveform files base
ROWS
  my %opens = map { $_ => 1 } qw(files image snapshot names perfdata capture disasm waveform ctrace live);
  my $failed = 0;
  while (my $file = <STDIN>) {
    chomp $file;
    my ($room, $own) = $file =~ m{^src/(\w+)/(\w+)} or next;
    open my $lines, "<", $file or die;
    while (<$lines>) {
      if (m{^#include "((\w+)/(?:(\w+)/)?[^"]*)"} && $2 ne "pugmark") {
        my $mine = $rooms{$room}{$2} && ($room ne "protocol" || $2 ne "protocol" || !$3 || $3 eq $own);
        $failed = print "$file includes $1\n" unless $mine;
      }
      $failed = print "$file opens files: $_" if !$opens{$room} && /(^|[^>._\w])(fopen|open|opendir|dlopen)\(/;
    }
  }
  exit $failed;'
# Where Debian's aarch64 cross compiler is installed clang calls its libgcc for atomics, which is not linked.
if grep -rnE 'target=aarch64-linux-gnu' tests/run/*.sh tests/truth/*.sh examples bench | grep -vE 'outline-atomics|many\.s|rooms\.sh'; then
  echo "these compile for aarch64 without -mno-outline-atomics"
  exit 1
fi
