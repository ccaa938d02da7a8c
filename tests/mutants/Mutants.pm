# SPDX-License-Identifier: MIT
# Defects that are planted one at a time in a copy of the source.
package Mutants;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(slurp copy_of defects build plant);

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

# A copy of the source, but for files that match: WORK/source.
sub copy_of {
    my ($source, $work, $without) = @_;
    return if -d "$work/source";
    mkdir $work;
    mkdir "$work/source";
    system("cd $source && git ls-files | grep -v '$without' | tar cf - -T - | tar xf - -C $work/source") == 0
        or die "no copy\n";
}

# Configures the copy with these options, once, and builds these targets: WORK/NAME. False: it does not build.
sub build {
    my ($work, $name, $options, $targets) = @_;
    if (!-d "$work/$name") {
        system("cmake -S $work/source -B $work/$name -G Ninja $options >$work/log 2>&1") == 0 or die slurp("$work/log");
    }
    return system("cmake --build $work/$name --target $targets >$work/log 2>&1") == 0;
}

# An entry begins with the file's name; `|` in code is written `\|`.
sub defects {
    my $text = slurp($_[0]);
    $text =~ s/^#.*\n//mg;
    return map { [map { s/\\\|/|/gr } split /(?<!\\)\|/] } split /\n(?=(?:src|recorder|tools)\/)/, $text =~ s/\n+\z//r;
}

# Plants each of the defects from FROM to TO, counted from 1, and has `found` look for it: it gets the defect, and
# returns what found it, undef where nothing did, and dies where the copy does not build. How many were missed.
sub plant {
    my ($work, $defects, $from, $to, $found) = @_;
    my ($planted, @missed) = (0);
    for my $n (($from // 1) .. ($to && $to < @$defects ? $to : @$defects)) {
        my ($file, $old, $new) = @{$defects->[$n - 1]};
        my $text = slurp("$work/source/$file");
        my $at = index $text, $old;
        die "defect $n: $file has no '$old'\n" if $at < 0 || index($text, $old, $at + 1) >= 0;
        spew("$work/source/$file", substr($text, 0, $at) . $new . substr($text, $at + length $old));
        my $by = eval { $found->($defects->[$n - 1]) };
        my $why = $@;
        spew("$work/source/$file", $text);
        die "defect $n does not build:\n$why" if $why;
        $planted++;
        printf "%2d %-32s %s\n", $n, $file, defined $by ? "found by $by" : 'MISSED';
        push @missed, $n unless defined $by;
    }
    printf "%d of %d defects found\n", $planted - @missed, $planted;
    return scalar @missed;
}

1;
