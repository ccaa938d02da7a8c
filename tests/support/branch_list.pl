#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# branch_list.pl PATH BUILD_ID ADDRESS:COUNT:BRANCHES... >FILE
# perf.data of simpleperf that holds rows of branches in place of trace: a pipe's, with one FEATURE
# record. BRANCHES is made of E (taken) and N, "E*3" and "(EN)*7" are several of them.
use strict;
use warnings;

sub varint {
    my ($value, $bytes) = (shift, '');
    do { $bytes .= chr($value & 0x7f | ($value > 0x7f ? 0x80 : 0)); $value >>= 7 } while $value;
    return $bytes;
}
sub number { return varint($_[0] << 3) . varint($_[1]) }
sub bytes { return varint($_[0] << 3 | 2) . varint(length $_[1]) . $_[1] }

my ($path, $id, @rows) = @ARGV;
my $binary = bytes(1, $path) . bytes(2, $id);
for (@rows) {
    my ($address, $count, $branches) = split /:/;
    $branches =~ s/(?:\((\w+)\)|(\w))\*(\d+)/($1 \/\/ $2) x $3/ge;
    my $bits = pack 'b*', $branches =~ tr/NE/01/r;
    my $branch = bytes(1, $bits) . number(2, length $branches) . number(3, $count);
    $binary .= bytes(3, number(1, hex $address) . bytes(2, $branch));
}
my $list = bytes(1, 'simpleperf:EtmBranchList') . bytes(2, $binary);
binmode STDOUT;
print 'PERFILE2', pack('Q<', 16), pack('L<S<S<Q<', 80, 0, 16 + length $list, 133), $list;
