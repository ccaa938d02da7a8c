#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# shared_lines.pl OUT UNITS ROWS: an AArch64 program at 0x1000 of NOPs and a branch back. Each NOP has a unit of debug information of its
# own, and all of these have the same line table, with ROWS lines of the first NOP.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use SmallElf;

my ($out, $units, $rows) = @ARGV;
my $code = pack('V*', (0xd503201f) x $units, 0x14000000 | (-$units & 0x3ffffff));
my $abbreviations = pack('C*', 1, 0x11, 0, 0x10, 0x17, 0x11, 1, 0x12, 6, 0, 0, 0); # compile_unit: stmt_list, low_pc, high_pc
my $info = join '', map { pack 'VvVCCVQV', 24, 4, 0, 8, 1, 0, 0x1000 + 4 * $_, 4 } 0 .. $units - 1;
my $header = pack('C*', 4, 1, 1, 251, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1) . "\0a.c\0\0\0\0\0";
my $program = pack('CCCQ', 0, 9, 2, 0x1000) . "\x13" x $rows . "\x21" x $units . pack('C*', 2, 1, 0, 1, 1); # a line; a line and a NOP
my $lines = pack('vV', 4, length $header) . $header . $program;
$lines = pack('V', length $lines) . $lines;
write_program($out, $code, ['.debug_abbrev', 1, $abbreviations], ['.debug_info', 1, $info], ['.debug_line', 1, $lines]);
