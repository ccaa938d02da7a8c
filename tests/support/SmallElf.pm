# SPDX-License-Identifier: MIT
# A small AArch64 program at 0x1000: its code, and whatever sections a test wants beside it.
package SmallElf;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(write_program);

sub header { pack 'VVQQQQVVQQ', @_ }

# Each section is a list of name, type, contents, link, info, alignment, size of an entry; the first one is number 2.
sub write_program {
    my ($out, $code, @sections) = @_;
    my @all = (['.text', 1, $code], @sections, ['.shstrtab', 3, '']);
    $all[-1][2] = "\0" . join '', map { "$_->[0]\0" } @all;
    my ($name, $at) = (1, 0x1000);
    my $headers = header((0) x 10);
    for my $section (@all) {
        my ($own, $type, $contents, $link, $info, $alignment, $entry) = @$section;
        my @memory = $own eq '.text' ? (6, 0x1000) : (0, 0);
        $headers .= header($name, $type, @memory, $at, length $contents, $link // 0, $info // 0, $alignment // 1, $entry // 0);
        $name += 1 + length $own;
        $at += length $contents;
    }
    my $padding = -$at & 7;
    my $file = "\x7fELF\x02\x01\x01" . "\0" x 9
        . pack('vvVQQQVvvvvvv', 2, 183, 1, 0x1000, 64, $at + $padding, 0, 64, 56, 1, 64, 1 + @all, scalar @all)
        . pack('VVQQQQQQ', 1, 5, 0x1000, 0x1000, 0x1000, length $code, length $code, 0x1000);
    open my $to, '>:raw', $out or die "$out: $!\n";
    print $to $file, "\0" x (0x1000 - length $file), (map { $_->[2] } @all), "\0" x $padding, $headers;
    close $to or die "$out: $!\n";
}

1;
