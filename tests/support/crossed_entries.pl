#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# crossed_entries.pl OUT DEPTH: an AArch64 program at 0x1000, a NOP and a branch back, with debug information in which each of DEPTH
# blocks in each other is the next one's parent and its sibling, so that 2^DEPTH ways lead to the last.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use SmallElf;

my ($out, $depth) = @ARGV;
my $code = pack 'VV', 0xd503201f, 0x17ffffff;
# compile_unit: low_pc, high_pc; lexical_block: sibling; both with children
my $abbreviations = pack 'C*', 1, 0x11, 1, 0x11, 1, 0x12, 6, 0, 0, 2, 0x0b, 1, 0x01, 0x13, 0, 0, 0;
my $first = 11 + 13;
my $info = pack('vVCCQV', 4, 0, 8, 1, 0x1000, 8) . join('', map { pack 'CV', 2, $first + 5 * $_ } 1 .. $depth) . "\0" x ($depth + 2);
$info = pack('V', length $info) . $info;
write_program($out, $code, ['.debug_abbrev', 1, $abbreviations], ['.debug_info', 1, $info]);
