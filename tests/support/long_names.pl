#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# long_names.pl OUT COUNT LENGTH: an AArch64 program at 0x1000 that calls itself, with COUNT functions. Their names are the tails of one
# text of LENGTH bytes.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use SmallElf;

my ($out, $count, $length) = @ARGV;
my $code = pack('V*', (0x94000000) x ($count + 16));
my $names = "\0" . 'a' x $length . "\0";
my $symbols = pack('VCCvQQ', (0) x 6)
    . join '', map { pack 'VCCvQQ', 1 + $_ * int($length / $count), 0x12, 0, 1, 0x1000 + 4 * $_, 4 } 0 .. $count - 1;
write_program($out, $code, ['.symtab', 2, $symbols, 3, 1, 8, 24], ['.strtab', 3, $names]);
