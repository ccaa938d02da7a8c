#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# index_bomb.pl SUMMARIES <INDEX >BOMB: the index with so many summaries of events in its last block, none of which is true, in place of
# its own. The checksum is right (docs/book/formats/index-file.md).
use strict;
use warnings;
no warnings 'portable';

my ($count) = @ARGV;
use constant {HEADER => 152, SOURCE => 168, BLOCK => 32, EVENT => 3, MOST => ~0};
binmode STDIN;
binmode STDOUT;
local $/;
my $index = <STDIN>;
my @numbers = unpack 'x24 Q11', $index;                      # from file_size on
my ($sources, $flags) = unpack 'x112 V2', $index;
my ($size, $blocks) = @numbers[6, 7];
my $sources_text = substr $index, HEADER, SOURCE * $sources;
my @blocks = unpack '(a' . BLOCK . ')*', substr $index, HEADER + SOURCE * $sources, BLOCK * $blocks;
substr($_, 0, 4) = pack 'V', 0 for @blocks;
my $summary = pack 'VvCCV4Q5', $blocks - 1, unpack('v', $sources_text), EVENT, 0, 5, 0, 0, 0xdead, MOST, MOST, 0, MOST, 0;
@numbers[8, 9, 10] = ($count, 0, 0);
my $parts = $sources_text . join('', @blocks) . $summary x $count;
$numbers[0] = HEADER + length $parts;
my $checked = pack('Q11V4', @numbers, $sources, $flags & ~1, 0, 0) . substr($index, 128, HEADER - 128) . $parts;

# Multiplication without its upper half.
sub times64 {
    use integer;
    return $_[0] * $_[1];
}
my $hash = 0;
for my $word (unpack 'Q*', $checked) {
    $hash = times64($hash ^ $word, 0x9E3779B97F4A7C15);
    $hash ^= ($hash >> 29) & 0x7ffffffff;
}
print substr($index, 0, 16), pack('Q', $hash), $checked;
