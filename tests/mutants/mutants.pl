#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# mutants.pl SOURCE WORK [FROM [TO]]: plant the defects of list.txt in a copy of the source, one at a
# time, build the command, and see whether the recordings of `record.sh WORK` are still told to be
# what ran. Every one of them must be found. FROM and TO are numbers of defects, counted from 1.
use strict;
use warnings;
use File::Basename;

my ($source, $work, $from, $to) = @ARGV;
die "usage: mutants.pl SOURCE WORK [FROM [TO]]\n" unless $work;
my $here = dirname(__FILE__);

sub slurp {
    open my $file, '<', $_[0] or die "$_[0]: $!\n";
    local $/;
    return scalar <$file>;
}

sub spew {
    open my $file, '>', $_[0] or die "$_[0]: $!\n";
    print $file $_[1];
    close $file or die "$_[0]: $!\n";
}

# An entry begins with the file's name; `|` in code is written `\|`.
sub defects {
    my $text = slurp("$here/list.txt");
    $text =~ s/^#.*\n//mg;
    return map { [map { s/\\\|/|/gr } split /(?<!\\)\|/] } split /\n(?=src\/)/, $text =~ s/\n+\z//r;
}

sub build {
    return system("cmake --build $work/build --target pugmark_tool >$work/log 2>&1") == 0;
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

if (!-d "$work/source") {
    mkdir $work;
    mkdir "$work/source";
    system("cd $source && git ls-files | grep -v '^tests/captures' | tar cf - -T - | tar xf - -C $work/source") == 0
        or die "no copy\n";
    system("cmake -S $work/source -B $work/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DPUG_TESTS=OFF >$work/log 2>&1") == 0
        or die slurp("$work/log");
}
build() or die slurp("$work/log");
my $clean = found_by();
die "without a defect $clean is not what ran\n" if defined $clean;

my @defects = defects();
my ($planted, @missed) = (0);
for my $n (($from // 1) .. ($to && $to < @defects ? $to : @defects)) {
    my ($file, $old, $new) = @{$defects[$n - 1]};
    my $text = slurp("$work/source/$file");
    my $at = index $text, $old;
    die "defect $n: $file has no '$old'\n" if $at < 0 || index($text, $old, $at + 1) >= 0;
    spew("$work/source/$file", substr($text, 0, $at) . $new . substr($text, $at + length $old));
    my $built = build();
    my $by = $built ? found_by() : 'the compiler';
    spew("$work/source/$file", $text);
    die "defect $n does not build:\n" . slurp("$work/log") unless $built;
    $planted++;
    printf "%2d %-32s %s\n", $n, $file, defined $by ? "found by $by" : 'MISSED';
    push @missed, $n unless defined $by;
}
build();
printf "%d of %d defects found\n", $planted - @missed, $planted;
exit(@missed > 0);
