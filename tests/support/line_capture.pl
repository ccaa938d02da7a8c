#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# line_capture.pl FORMAT CODING BITS HERTZ [PARTS] <BYTES >CAPTURE: the bytes as a logic analyser sees them on a line, between
# idle times: vcd, csv, or sr (of sigrok, with a second line, the samples in so many members). CODING: uart or manchester.
use strict;
use warnings;
use IO::Compress::Zip qw($ZipError);

my ($format, $coding, $bits, $hertz, $parts) = @ARGV;
binmode STDIN;
binmode STDOUT;
local $/;
my @bytes = unpack 'C*', <STDIN>;
my $idle = $coding eq 'uart' ? 1 : 0;
my @levels = ([$idle, 40]); # level, half bits
my $n = 0;
while (@bytes) {
    my @now = splice @bytes, 0, $coding eq 'uart' ? 1 : 1 + $n % 8;
    if ($coding eq 'uart') {
        push @levels, [0, 2], map { [$now[0] >> $_ & 1, 2] } 0 .. 7;
        push @levels, [1, 2 + ($n % 13 == 0 ? 7 * ($n % 5) : 0)];
    } else {
        my @all = (1, map { my $byte = $_; map { $byte >> $_ & 1 } 0 .. 7 } @now);
        push @levels, map { [$_, 1], [1 - $_, 1] } @all;
        push @levels, [0, 3 + $n % 40];
    }
    $n++;
}
push @levels, [$idle, 60];
my ($time, $last, $sample, @edges) = (0, -1, 0);
for (@levels) {
    push @edges, [int($time / 2 / $bits * $hertz + 0.5), $_->[0]] if $_->[0] != $last;
    $last = $_->[0];
    $time += $_->[1];
}
my $end = int($time / 2 / $bits * $hertz + 0.5);
if ($format eq 'vcd') {
    print "\$timescale 100 ps \$end\n\$scope module x \$end\n\$var wire 1 ! SWO \$end\n\$upscope \$end\n\$enddefinitions \$end\n";
    printf "#%d %d!\n", $_->[0] * 1e10 / $hertz + 0.5, $_->[1] for @edges;
    printf "#%d\n", $end * 1e10 / $hertz;
    exit;
}
my $samples = '';
push @edges, [$end, 0];
$samples .= chr($edges[$_ - 1][1]) x ($edges[$_][0] - $edges[$_ - 1][0]) for 1 .. $#edges;
if ($format eq 'csv') {
    print "; Samplerate: ", $hertz / 1e6, " MHz\nSWO\n";
    print join("\n", unpack 'C*', $samples), "\n";
    exit;
}
# The line is probe 10, of two bytes a sample; another one toggles.
my $wide = join '', map { pack 'v', (ord(substr $samples, $_, 1)) << 9 | ($_ & 1) } 0 .. length($samples) - 1;
my $zip = IO::Compress::Zip->new('-', Name => 'version') or die $ZipError;
$zip->print('2');
$zip->newStream(Name => 'metadata');
$zip->print("[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\ntotal probes=2\nsamplerate=", $hertz / 1e6,
    " MHz\nprobe1=CLK\nprobe10=SWO\nunitsize=2\n");
my $part = int(length($wide) / $parts) + 1; # cut anywhere
for my $i (1 .. $parts) {
    $zip->newStream(Name => $parts == 1 ? 'logic-1' : "logic-1-$i");
    $zip->print(substr $wide, ($i - 1) * $part, $part);
}
$zip->close;
