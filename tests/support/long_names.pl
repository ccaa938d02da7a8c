#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# long_names.pl OUT COUNT LENGTH: an AArch64 program at 0x1000 that calls itself, with COUNT functions. Their names are the tails of one
# text of LENGTH bytes.
use strict;
use warnings;

my ($out, $count, $length) = @ARGV;
my $code = pack('V*', (0x94000000) x ($count + 16));
my $names = "\0" . 'a' x $length . "\0";
my $symbols = pack('VCCvQQ', (0) x 6)
    . join '', map { pack 'VCCvQQ', 1 + $_ * int($length / $count), 0x12, 0, 1, 0x1000 + 4 * $_, 4 } 0 .. $count - 1;
my $sections = "\0.text\0.symtab\0.strtab\0.shstrtab\0";
my $at = 0x1000;
my @places = map { my $place = $at; $at += length $_; $place } $code, $symbols, $names, $sections;
$at = ($at + 7) & ~7;
sub section { pack 'VVQQQQVVQQ', @_ }
my $file = "\x7fELF\x02\x01\x01" . "\0" x 9 . pack('vvVQQQVvvvvvv', 2, 183, 1, 0x1000, 64, $at, 0, 64, 56, 1, 64, 5, 4)
    . pack('VVQQQQQQ', 1, 5, 0x1000, 0x1000, 0x1000, length $code, length $code, 0x1000);
$file .= "\0" x (0x1000 - length $file) . $code . $symbols . $names . $sections;
$file .= "\0" x ($at - length $file) . section((0) x 10);
$file .= section(1, 1, 6, 0x1000, $places[0], length $code, 0, 0, 4, 0);
$file .= section(7, 2, 0, 0, $places[1], length $symbols, 3, 1, 8, 24);
$file .= section(15, 3, 0, 0, $places[2], length $names, 0, 0, 1, 0);
$file .= section(23, 3, 0, 0, $places[3], length $sections, 0, 0, 1, 0);
open my $to, '>:raw', $out or die "$out: $!\n";
print $to $file;
close $to or die "$out: $!\n";
