# SPDX-License-Identifier: MIT
# Packets of an ITM and a DWT, for scripts that write SWO: `perl -I tests/support -Mswo -e '…' >file`, where the last
# expression is swo::done().
package swo;
use strict;
use warnings;

our $out = '';
my %size = (1 => 1, 2 => 2, 4 => 3);

sub bytes { my ($n, $value) = @_; return substr(pack('V', $value & 0xffffffff), 0, $n) }
sub raw { $out .= join '', map { chr } @_; return }
sub sync { $out .= "\0\0\0\0\0\x80"; return }
sub overflow { $out .= "\x70"; return }
# A write of N bytes to a port, a packet of a hardware source.
sub port { my ($port, $n, $value) = @_; $out .= chr($port << 3 | $size{$n}) . bytes($n, $value); return }
sub dwt { my ($source, $n, $value) = @_; $out .= chr($source << 3 | 4 | $size{$n}) . bytes($n, $value); return }
sub text { my ($port, $text) = @_; port($port, 1, ord) for split //, $text; return }
# 7 bits a byte, low ones first, in at least N bytes.
sub continued {
    my ($value, $n) = @_;
    my @seven;
    do { push @seven, $value & 0x7f; $value >>= 7 } while $value || @seven < $n;
    $_ |= 0x80 for @seven[0 .. $#seven - 1];
    return join '', map { chr } @seven;
}
# A local timestamp: cycles since the last one, and how it relates to the packets before it.
sub time { my ($cycles, $delay) = @_; $delay //= 0;
    $out .= $cycles >= 1 && $cycles <= 6 && !$delay ? chr($cycles << 4) : chr(0xc0 | $delay << 4) . continued($cycles, 1);
    return }
# A global timestamp, whole: its low bits, which say that the upper ones follow.
sub global {
    my ($ticks) = @_;
    raw(0x94, (map { $ticks >> 7 * $_ & 0x7f | 0x80 } 0 .. 2), $ticks >> 21 & 0x1f | 0x40);
    $out .= "\xb4" . continued($ticks >> 26, 4);
    return;
}
sub enter { my ($number) = @_; dwt(1, 2, $number | 1 << 12); return }
sub leave { my ($number) = @_; dwt(1, 2, $number | 2 << 12); return }
sub back { my ($number) = @_; dwt(1, 2, $number | 3 << 12); return }
sub sample { my ($pc) = @_; dwt(2, 4, $pc); return }
sub asleep { dwt(2, 1, 0); return }
# A write that comparator N saw: its instruction, the low half of its address, its value.
sub watch { my ($n, $pc, $address, $size, $value) = @_;
    dwt(8 + 2 * $n, 4, $pc); dwt(9 + 2 * $n, 2, $address); dwt(17 + 2 * $n, $size, $value); return }
# What there is so far, in frames of CoreSight with a trace id. Timestamps of one cycle fill the last frame.
sub frames {
    my ($id) = @_;
    my @data = unpack 'C*', $out;
    push @data, 0x10 while @data % 14;
    $out = '';
    while (@data) {
        my @bytes = ($id << 1 | 1, splice @data, 0, 14);
        my $lowest = 0; # of the data in even places: it is in the last byte
        for (map { 2 * $_ } 1 .. 7) {
            $lowest |= ($bytes[$_] & 1) << $_ / 2;
            $bytes[$_] &= 0xfe;
        }
        $out .= join '', map { chr } @bytes, $lowest;
    }
    return;
}
sub done { binmode STDOUT; print $out; return }
1;
