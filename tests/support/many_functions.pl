#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# many_functions.pl OUT FUNCTIONS LINES: an AArch64 program at 0x1000 of so many functions, one behind the other, and a branch back. Each
# is a NOP on each of so many lines.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use SmallElf;

my ($out, $functions, $lines) = @ARGV;
my $count = $functions * $lines;
my $code = pack('V*', (0xd503201f) x $count, 0x14000000 | (-$count & 0x3ffffff));
my ($names, $symbols) = ("\0", pack 'VCCvQQ', (0) x 6);
for my $n (0 .. $functions - 1) {
    $symbols .= pack 'VCCvQQ', length $names, 0x12, 0, 1, 0x1000 + 4 * $lines * $n, 4 * $lines;
    $names .= "f$n\0";
}
my $abbreviations = pack('C*', 1, 0x11, 0, 0x10, 0x17, 0x11, 1, 0x12, 7, 0, 0, 0); # compile_unit: stmt_list, low_pc, high_pc
my $info = pack 'VvVCCVQQ', 28, 4, 0, 8, 1, 0, 0x1000, 4 * $count;
my $header = pack('C*', 4, 1, 1, 251, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1) . "\0a.c\0\0\0\0\0";
my $program = pack('CCCQ', 0, 9, 2, 0x1000) . "\1" . "\x21" x ($count - 1) . pack('C*', 2, 1, 0, 1, 1); # a line and a NOP
my $table = pack('vV', 4, length $header) . $header . $program;
$table = pack('V', length $table) . $table;
write_program($out, $code, ['.symtab', 2, $symbols, 3, 1, 8, 24], ['.strtab', 3, $names], ['.debug_abbrev', 1, $abbreviations],
    ['.debug_info', 1, $info], ['.debug_line', 1, $table]);
