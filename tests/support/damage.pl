#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# damage.pl SEED LIMIT IN OUT [IN OUT...]: a copy of at most LIMIT bytes of IN (a random window of a longer
# file) with random damage; the same for the same seed. A link under the name of OUT is replaced.
use strict;
use warnings;

my ($seed, $limit, @files) = @ARGV;
die "usage: damage.pl SEED LIMIT IN OUT [IN OUT...]\n" unless @files && @files % 2 == 0;
my ($state, $bytes);

sub pick    # a number below n
{
    my ($n) = @_;
    $state = ($state * 1664525 + 1013904223) & 0xffffffff;
    return $n > 0 ? ($state >> 7) % $n : 0;
}

my @kinds = (
    sub { substr($bytes, $_[0], 1) = chr(ord(substr($bytes, $_[0], 1)) ^ 1 << pick(8)) },
    sub { substr($bytes, $_[0], 1) = chr pick(256) },
    sub { substr($bytes, $_[0], 1 + pick(40)) = '' },
    sub { substr($bytes, $_[0], 0) = join '', map { chr pick(256) } 0 .. pick(40) },
    sub { substr($bytes, $_[0], 0) = substr $bytes, pick(length $bytes), pick(200) },
    sub { substr($bytes, $_[0], 1 + pick(64)) = chr(pick(2) ? 0xff : 0) x (1 + pick(64)) },
    sub { substr($bytes, $_[0]) = '' },
);
while (my ($in, $out) = splice @files, 0, 2) {
    $state = ($seed * 2654435761 + 12345) & 0xffffffff;
    open my $file, '<:raw', $in or die "$in: $!\n";
    $bytes = do { local $/; <$file> } // '';
    close $file;
    if (length $bytes > $limit) {
        my $start = pick(2) ? 0 : pick(length($bytes) - $limit) & ~15;
        $bytes = substr $bytes, $start, $limit;
    }
    my $count = 1 + pick(pick(2) ? 4 : 60);
    while ($count-- > 0 && length $bytes) {
        my $kind = pick(scalar @kinds);
        $kind = 0 if $kind == $#kinds && pick(4);    # the end is cut off less often
        $kinds[$kind]->(pick(length $bytes));
    }
    unlink $out if -l $out;
    open $file, '>:raw', $out or die "$out: $!\n";
    print $file $bytes;
    close $file or die "$out: $!\n";
}
