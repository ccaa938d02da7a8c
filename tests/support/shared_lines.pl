#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# shared_lines.pl OUT UNITS ROWS: an AArch64 program at 0x1000 of NOPs and a branch back. Each NOP has a unit of debug information of its
# own, and all of these have the same line table, with ROWS lines of the first NOP.
use strict;
use warnings;

my ($out, $units, $rows) = @ARGV;
my $code = pack('V*', (0xd503201f) x $units, 0x14000000 | (-$units & 0x3ffffff));
my $abbreviations = pack('C*', 1, 0x11, 0, 0x10, 0x17, 0x11, 1, 0x12, 6, 0, 0, 0); # compile_unit: stmt_list, low_pc, high_pc
my $info = join '', map { pack 'VvVCCVQV', 24, 4, 0, 8, 1, 0, 0x1000 + 4 * $_, 4 } 0 .. $units - 1;
my $header = pack('C*', 4, 1, 1, 251, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1) . "\0a.c\0\0\0\0\0";
my $program = pack('CCCQ', 0, 9, 2, 0x1000) . "\x13" x $rows . "\x21" x $units . pack('C*', 2, 1, 0, 1, 1); # a line; a line and a NOP
my $lines = pack('vV', 4, length $header) . $header . $program;
$lines = pack('V', length $lines) . $lines;
my $sections = "\0.text\0.debug_abbrev\0.debug_info\0.debug_line\0.shstrtab\0";
my @contents = ($code, $abbreviations, $info, $lines, $sections);
my $at = 0x1000;
my @places = map { my $place = $at; $at += length $_; $place } @contents;
$at = ($at + 7) & ~7;
sub section { pack 'VVQQQQVVQQ', @_ }
my $file = "\x7fELF\x02\x01\x01" . "\0" x 9 . pack('vvVQQQVvvvvvv', 2, 183, 1, 0x1000, 64, $at, 0, 64, 56, 1, 64, 6, 5)
    . pack('VVQQQQQQ', 1, 5, 0x1000, 0x1000, 0x1000, length $code, length $code, 0x1000);
$file .= "\0" x (0x1000 - length $file) . join '', @contents;
$file .= "\0" x ($at - length $file) . section((0) x 10) . section(1, 1, 6, 0x1000, $places[0], length $code, 0, 0, 4, 0);
my $name = 7;
for my $i (1 .. 4) {
    $file .= section($name, $i == 4 ? 3 : 1, 0, 0, $places[$i], length $contents[$i], 0, 0, 1, 0);
    $name = index($sections, "\0", $name) + 1;
}
open my $to, '>:raw', $out or die "$out: $!\n";
print $to $file;
close $to or die "$out: $!\n";
