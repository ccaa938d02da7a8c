#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# mutants.pl SOURCE WORK [FROM [TO]]: plant the defects of list.txt in a copy of the source, one at a
# time, build the command, and see whether the recordings of `record.sh WORK` are still told to be
# what ran. Every one of them must be found. FROM and TO are numbers of defects, counted from 1.
use strict;
use warnings;
use File::Basename;
use lib dirname(__FILE__);
use Mutants;

my ($source, $work, $from, $to) = @ARGV;
die "usage: mutants.pl SOURCE WORK [FROM [TO]]\n" unless $work;

sub build_command {
    build($work, 'build', '-DCMAKE_BUILD_TYPE=Release -DPUG_TESTS=OFF', 'pugmark_tool') or die slurp("$work/log");
}

# The first recording that is not what ran any more; undef: there is none.
sub found_by {
    for my $folder (glob "$work/recordings/*/") {
        my $name = basename($folder);
        system("timeout 60 $work/build/bin/pugmark pc --quiet $folder --verify $folder/path >/dev/null 2>&1");
        return $name if $? != 0;
    }
    return undef;
}

copy_of($source, $work, '^tests/captures');
build_command();
my $clean = found_by();
die "without a defect $clean is not what ran\n" if defined $clean;
my $missed = plant($work, [defects(dirname(__FILE__) . '/list.txt')], $from, $to, sub { build_command(); found_by() });
build_command();
exit($missed > 0);
