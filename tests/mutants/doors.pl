#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# doors.pl SOURCE WORK [FROM [TO]]: plant the defects of doors.txt in a copy of the source, one at a time: a bound
# that is not looked at in what reads files of strangers. Each must be found by the test, or by the fuzz target with a
# bounded number of inputs, that its entry names. FROM and TO are numbers of defects, counted from 1.
use strict;
use warnings;
$| = 1;
use Cwd qw(abs_path);
use File::Basename;
use lib dirname(__FILE__);
use Mutants;

my ($source, $work, $from, $to) = @ARGV;
die "usage: doors.pl SOURCE WORK [FROM [TO]]\n" unless $work;
mkdir $work;
$work = abs_path($work);
my %options = (release => '-DCMAKE_BUILD_TYPE=Release -DPUG_TESTS_TOGETHER=ON',
               sanitize => '-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1 -DPUG_SANITIZE=ON -DPUG_TESTS_TOGETHER=ON');

# What finds a defect: BUILD:NAME, a unit test, a script of tests/run, or a fuzz target. Undef: it does not.
sub found_by {
    my ($build, $name) = split /:/, $_[0];
    my $targets = $name =~ /^fuzz_/ ? $name : $name =~ /^run_/ ? 'pugmark_tool' : 'unit_tests';
    build($work, $build, $options{$build}, $targets) or die slurp("$work/log");
    my $inputs = $name eq 'fuzz_report' ? 1000 : 20000; # a page is long
    my $command = $name =~ /^fuzz_/ ? "$work/$build/bin/$name $inputs 1"
                : $name =~ /^run_(.*)/ ? "bash $work/source/tests/run/$1.sh $work/$build/bin $work/source"
                : "$work/$build/tests/$name";
    system("cd $work && timeout 300 $command >$work/said 2>&1");
    return $? == 77 << 8 || $? == 0 ? undef : "$name ($build)";
}

copy_of($source, $work, '^docs/pictures');
my @defects = defects(dirname(__FILE__) . '/doors.txt');
my @chosen = @defects[($from // 1) - 1 .. ($to && $to < @defects ? $to : @defects) - 1];
for my $by (sort { $a cmp $b } keys %{{map { $_->[3] => 1 } @chosen}}) {
    die "without a defect $by fails:\n" . slurp("$work/said") if defined found_by($by);
}
exit(plant($work, \@defects, $from, $to, sub { found_by($_[0][3]) }) > 0);
