#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Prints the formats of all messages that C files have, one a line: string literals that are put together, with
# conversions written as "%". Each line: file, tab, text.
#   message_formats.pl FUNCTION,... FILE...
use strict;
use warnings;

my $functions = join '|', map { quotemeta } split /,/, shift @ARGV;
for my $file (@ARGV) {
    open my $in, '<', $file or die "$file: $!\n";
    my $text = do { local $/; <$in> };
    while ($text =~ /\b(?:$functions)\(/g) {
        my $at = pos $text;
        my $rest = substr $text, $at;
        # Arguments before the format are names; the format is what literals follow each other.
        next unless $rest =~ /\A(?:[^"();]*,\s*)?((?:"(?:[^"\\]|\\.)*"\s*(?:PRI[a-zA-Z0-9]+\s*)?)+)/;
        my $format = join '', map { /^PRI/ ? 'u' : $_ =~ s/^"|"$//gr } $1 =~ /"(?:[^"\\]|\\.)*"|PRI\w+/g;
        $format =~ s/%%/\0/g;
        $format =~ s/%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+)?)?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]?/%/g;
        $format =~ s/\0/%/g;
        $format =~ s/\\n$//;
        $format =~ s/\\"/"/g;
        print "$file\t$format\n";
    }
}
