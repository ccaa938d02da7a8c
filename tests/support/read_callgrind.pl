#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# read_callgrind.pl FILE: what readers of callgrind's profiles find in one. "function NAME SELF INCLUSIVE": inclusive is what
# calls of it cost, if there are any; "line FILE:LINE SELF"; "defined FILE:NAME" of functions, "called FILE:NAME" and "jump FILE:LINE"
# of what is called and jumped to: in the file that is named, or else the current one.
use strict;
use warnings;

my ($file, $function, $called_file, $called, $jump_file, $calls, $jump, $summary, $totals);
my (%own, %below, %called_cost, %line, %lines);
my $all = 0;
while (<>) {
    chomp;
    last if s/^totals: // && defined($totals = $_);
    $summary = $1 if /^summary: (\d+)/;
    if (/^f[lie]=(.*)/) { $file = $1 }
    elsif (/^fn=(.*)/) { $function = $1; $own{$function} += 0; $lines{"defined $file:$function"}++ }
    elsif (/^c(?:fi|fl)=(.*)/) { $called_file = $1 }
    elsif (/^cfn=(.*)/) {
        $called = $1;
        $lines{'called ' . ($called_file // $file) . ":$called"}++;
        undef $called_file;
    }
    elsif (/^calls=(\d+) /) { $calls = $1; die "line $.: no calls\n" if $calls == 0 }
    elsif (/^jfi=(.*)/) { $jump_file = $1 }
    elsif (/^j(?:ump|cnd)=\S+ \S+ (\d+)/) {
        $lines{'jump ' . ($jump_file // $file) . ":$1"}++ if $1 > 0;
        undef $jump_file;
        $jump = 1;
    }
    elsif (/^0x[0-9a-f]+ (\d+)(?: (\d+))?$/) {
        if ($jump) { die "line $.: a jump's cost\n" if defined $2; undef $jump; next }
        if ($calls) { $called_cost{$called} += $2; $below{$function} += $2; undef $calls; next }
        $own{$function} += $2;
        $line{"$file:$1"} += $2 if $1 > 0;
        $all += $2;
    }
}
die "$all in all, not $summary and $totals\n" if $all != $summary || $all != $totals;
$own{$_} += 0 for keys %called_cost;
for (keys %own) {
    $lines{"function $_ $own{$_} " . ($called_cost{$_} // $own{$_} + ($below{$_} // 0))}++ unless $_ eq '[unknown]';
}
$lines{"line $_ $line{$_}"}++ for keys %line;
print "$_\n" for sort keys %lines;
