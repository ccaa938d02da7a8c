#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# path_file.pl BINARY BASE <SCRIPT >PATH: a path (docs/book/formats/path.md) of an A64 program from a script, whose lines are
#   at NS                     this time has come
#   run ADDRESS COUNT         so many instructions ran from there on
#   irq NUMBER BACK           an interrupt was taken, which goes back there
#   eret TO                   the last instruction returned from it
#   context N, thread PID TID what runs next
#   lost                      something ran that is not in the path
#   core N                    what follows is processor N's, whose time goes on from where it was; the first is 0
# Addresses are hexadecimal; BINARY is the program's memory from BASE on.
use strict;
use warnings;
my ($binary, $base) = @ARGV;
open my $in, "<:raw", $binary or die "$binary: $!";
my $code = do { local $/; <$in> };
$base = hex $base;
sub number { my ($n, $out) = (shift, ""); do { my $b = $n & 127; $n >>= 7; $out .= chr($n ? $b | 128 : $b) } while $n; $out }
sub event { number(($_[1] << 4) | ($_[0] << 1) | 1) }
my (%blocks, $blocks, $events, $time) = ();
my ($count, $now) = (0, 0);
$blocks = $events = "";
my $out = "pugpath\x02" . number(1) . number(4) . number(1);
my $begun = 0;
my ($core, @times) = 0;
sub flush_events { $out .= "E" . number($core) . number($begun) . number(length $events) . $events if length $events; $events = ""; $begun = $now }
while (<STDIN>) {
    s/#.*//;
    my ($word, @args) = split or next;
    if ($word eq "at") {
        die "line $.: time goes back\n" if $args[0] < $now;
        $events .= event(6, $args[0] - $now);
        $now = $args[0];
    } elsif ($word eq "run") {
        my ($address, $n) = (hex $args[0], $args[1]);
        my $key = "$address $n";
        if (!exists $blocks{$key}) {
            my $bytes = substr $code, $address - $base, 4 * $n;
            die "line $.: no code at $args[0]\n" unless length $bytes == 4 * $n;
            flush_events();
            $out .= "B" . number(0) . number($address) . number(4 * $n) . $bytes;
            $blocks{$key} = $count++;
        }
        $events .= event(0, $blocks{$key});
    } elsif ($word eq "irq") {
        $events .= event(3, ($args[0] + 1) << 3 | 2) . number(1 + hex $args[1]);
    } elsif ($word eq "eret") {
        $events .= event(3, 4) . number(1 + hex $args[0]);
    } elsif ($word eq "context") {
        $events .= event(4, $args[0]);
    } elsif ($word eq "thread") {
        flush_events();
        $out .= "T" . number($core) . number($now) . number($args[0]) . number($args[1]);
    } elsif ($word eq "core") {
        flush_events();
        $times[$core] = $now;
        $core = $args[0];
        $begun = $now = $times[$core] // 0;
    } elsif ($word eq "lost") {
        $events .= event(7, 0);
    } else {
        die "line $.: '$word' is no word of a path's script\n";
    }
}
flush_events();
binmode STDOUT;
print $out, "Z";
