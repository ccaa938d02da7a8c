#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# gdb_ask.pl COMMAND... -- PACKET...: the answers of a GDB server at the command's standard input and output, a line each.
# "monitor WORDS" is the packet of that command; its answer is in words.
use strict;
use warnings;
use IPC::Open2;
my ($at) = grep { $ARGV[$_] eq '--' } 0 .. $#ARGV;
my $pid = open2(my $from, my $to, @ARGV[0 .. $at - 1]);
$SIG{ALRM} = sub { die "no answer\n" };
alarm 100;
my $got = '';
for my $words (@ARGV[$at + 1 .. $#ARGV]) {
    my $monitor = $words =~ /^monitor (.*)/s;
    my $packet = $monitor ? 'qRcmd,' . unpack('H*', $1) : $words;
    my $sum = 0;
    $sum += ord for split //, $packet;
    syswrite $to, sprintf "\$%s#%02x", $packet, $sum & 255;
    my $answer;
    for (;;) {
        sysread($from, $got, 65536, length $got) or die "it went away\n" until $got =~ s/^[^\$]*\$([^#]*)#..//s;
        $answer = $1;
        syswrite $to, '+';
        last if $answer eq 'OK' || $answer !~ /^O/; # what it says meanwhile
    }
    $answer = pack 'H*', $answer if $monitor && $answer ne 'OK';
    print $answer, $answer =~ /\n\z/ ? '' : "\n";
}
close $to;
waitpid $pid, 0;
exit $? >> 8;
