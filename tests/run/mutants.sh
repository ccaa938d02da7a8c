#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Defects that `make mutants` and `make doors` plant are of text that stands in its file, once.
#   mutants.sh BIN SOURCE
set -u
source=$2
command -v perl >/dev/null || { echo "skipped: needs perl"; exit 77; }
cd "$source" || exit 1
perl -Itests/mutants -MMutants -e '
    my $bad = 0;
    for my $list ("tests/mutants/list.txt", "tests/mutants/doors.txt") {
        my @defects = defects($list);
        $bad++, print "$list: no defects\n" unless @defects;
        for (@defects) {
            my ($file, $old, $new) = @$_;
            my $count = () = slurp($file) =~ /\Q$old\E/g;
            $bad++, print "$list: $file has \"$old\" $count times\n" if $count != 1 || $old eq $new;
        }
    }
    exit($bad > 0)'
