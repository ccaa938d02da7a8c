#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# sigrok_bomb.pl idle|edges >CAPTURE.sr: a megabyte that holds a gigabyte of samples: of a line that never changes, or changes with every
# second sample. Its members are alike, so that none has to be packed twice.
use strict;
use warnings;
use Compress::Raw::Zlib;

my ($line) = @ARGV;
use constant {MEMBERS => 900, SAMPLES => 1 << 20};
binmode STDOUT;
my $samples = ($line eq 'idle' ? "\0\0\0\0" : "\0\0\1\1") x (SAMPLES / 4);
my $deflate = Compress::Raw::Zlib::Deflate->new(-Level => 9, -WindowBits => -MAX_WBITS, -AppendOutput => 1);
my $packed = '';
$deflate->deflate($samples, $packed) == Z_OK && $deflate->flush($packed) == Z_OK or die "not packed\n";
my $metadata = "[device 1]\ncapturefile=logic-1\ntotal probes=1\nsamplerate=24 MHz\nprobe1=SWO\nunitsize=1\n";

my ($out, $directory, $count) = ('', '', 0);
sub member {
    my ($name, $method, $bytes, $size, $sum) = @_;
    my $common = pack 'vvvvvVVVvv', 20, 0, $method, 0, 0x21, $sum, length $bytes, $size, length $name, 0;
    $directory .= "PK\1\2" . pack('v', 20) . $common . pack('vvvVV', 0, 0, 0, 0, length $out) . $name;
    $out .= "PK\3\4" . $common . $name . $bytes;
    $count++;
}
member('version', 0, '2', 1, crc32('2'));
member('metadata', 0, $metadata, length $metadata, crc32($metadata));
my $sum = crc32($samples);
member("logic-1-$_", 8, $packed, SAMPLES, $sum) for 1 .. MEMBERS;
print $out, $directory, "PK\5\6", pack 'vvvvVVv', 0, 0, $count, $count, length $directory, length $out, 0;
