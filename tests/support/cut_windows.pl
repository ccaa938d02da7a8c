#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# cut_windows.pl FOLDER: of each line "LIST PART from FROM TO WORDS" or "LIST PART beside AT COUNT WORDS" in FOLDER/requests, the
# file PART is what the file LIST has at offsets in [FROM, TO), or COUNT lines before the first one at AT or after it and
# COUNT from it on. WORDS tell it that differs. Lines of the encapsulation, which stand with a packet, are not counted.
use strict;
use warnings;

my ($folder) = @ARGV;
die "usage: cut_windows.pl FOLDER\n" unless defined $folder;
my $failed = 0;
my %requests;
open my $asked, '<', "$folder/requests" or die "$folder/requests: $!\n";
while (<$asked>) {
    chomp;
    my ($list, $part, $kind, $at, $to, $words) = split / /, $_, 6;
    push @{$requests{$list}}, {part => $part, kind => $kind, at => $at, to => $to, words => $words, want => ''};
}

sub before { # COUNT LINES: the last ones
    my ($count, @lines) = @_;
    return join '', $count < @lines ? splice @lines, @lines - $count : @lines;
}

# Appends to each request what the list has there. Between two ends of windows the same ones go on.
sub cut {
    my ($list, @requests) = @_;
    my @windows = grep { $_->{kind} eq 'from' } @requests;
    my @beside = sort { $a->{at} <=> $b->{at} } grep { $_->{kind} eq 'beside' } @requests;
    my ($most) = sort { $b <=> $a } 0, map { $_->{to} } @beside;
    my ($low, $high, @inside, @open, @last) = (0, 0);
    open my $lines, '<', "$folder/$list" or die "$folder/$list: $!\n";
    while (my $line = <$lines>) {
        my $at = $line =~ /^(?:\{"index": (\d+)| *(\d+)  )/ ? $1 // $2 : 0;
        next if !$at && $line =~ /^Idx:/;
        if ($at < $low || $at >= $high) {
            ($low, $high) = (0, ~0);
            for (map { ($_->{at}, $_->{to}) } @windows) {
                $low = $_ if $_ <= $at && $_ > $low;
                $high = $_ if $_ > $at && $_ < $high;
            }
            @inside = grep { $at >= $_->{at} && $at < $_->{to} } @windows;
        }
        $_->{want} .= $line for @inside;
        while (@beside && $at >= $beside[0]{at}) {
            my $begun = shift @beside;
            $begun->{want} = before($begun->{to}, @last);
            $begun->{left} = $begun->{to};
            push @open, $begun;
        }
        if (@open) {
            $_->{left}-- > 0 and $_->{want} .= $line for @open;
            @open = grep { $_->{left} > 0 } @open;
        }
        push @last, $line;
        shift @last if @last > $most;
    }
    $_->{want} = before($_->{to}, @last) for @beside;
}

for my $list (sort keys %requests) {
    cut($list, @{$requests{$list}});
    for my $request (@{$requests{$list}}) {
        open my $part, '<', "$folder/$request->{part}" or die "$folder/$request->{part}: $!\n";
        my $got = do { local $/; <$part> } // '';
        $got =~ s/^Idx:.*\n//mg;
        next if $got eq $request->{want};
        print STDERR "FAILED: $request->{words} differs\n";
        $failed = 1;
    }
}
exit $failed;
