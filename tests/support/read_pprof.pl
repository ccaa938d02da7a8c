#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# read_pprof.pl FILE: what readers of pprof's profiles find in one that is not compressed, of its first value. "default TYPE";
# "function NAME SELF INCLUSIVE"; "line FILE:LINE SELF".
use strict;
use warnings;

open my $input, '<:raw', $ARGV[0] or die "$ARGV[0]: $!\n";
local $/;
my $bytes = <$input>;

sub varint {
    my ($text, $at) = @_;
    my ($value, $shift) = (0, 0);
    while (1) {
        my $byte = ord substr $$text, $$at++, 1;
        $value |= ($byte & 127) << $shift;
        return $value if $byte < 128;
        $shift += 7;
    }
}

# A message's fields: number => its values.
sub fields {
    my ($text) = @_;
    my ($at, %all) = (0);
    while ($at < length $text) {
        my $key = varint(\$text, \$at);
        my $value = varint(\$text, \$at);
        if (($key & 7) == 2) {
            push @{$all{$key >> 3}}, substr $text, $at, $value;
            $at += $value;
        } else {
            push @{$all{$key >> 3}}, $value;
        }
    }
    return \%all;
}

sub packed {
    my ($text) = @_;
    my ($at, @all) = (0);
    push @all, varint(\$text, \$at) while $at < length $text;
    return @all;
}

my $profile = fields($bytes);
my @text = @{$profile->{6}};
my (%name, %file, %lines, %self, %inclusive, %line);
for (map { fields($_) } @{$profile->{5}}) {
    ($name{$_->{1}[0]}, $file{$_->{1}[0]}) = ($text[$_->{2}[0]], $text[$_->{4}[0] // 0]);
}
for (map { fields($_) } @{$profile->{4}}) {
    $lines{$_->{1}[0]} = [map { [$_->{1}[0], $_->{2}[0] // 0] } map { fields($_) } @{$_->{4}}];
}
for (map { fields($_) } @{$profile->{2}}) {
    my @stack = packed($_->{1}[0]);
    my ($count) = packed($_->{2}[0]);
    my %seen;
    my $first = $lines{$stack[0]};
    $self{$name{$first->[-1][0]}} += $count; # with what is inlined
    $line{"$file{$first->[0][0]}:$first->[0][1]"} += $count if $first->[0][1] > 0;
    $inclusive{$_} += $count for grep { !$seen{$_}++ } map { $name{$lines{$_}[-1][0]} } @stack;
}
my $default = $text[$profile->{14}[0] // 0];
print "default $default\n";
print "function $_ ", $self{$_} // 0, " $inclusive{$_}\n" for sort keys %inclusive;
print "line $_ $line{$_}\n" for sort grep { $line{$_} > 0 } keys %line;
