#!/usr/bin/perl -p
# SPDX-License-Identifier: MIT
# What the headers say, as doxygen understands it, line by line:
# "@file What it is" is "@file" and a brief, and what stands behind several members is said of each.
s{(/\*\*| \*) \@file }{$1 \\file\n * };
if (m{^(\s+)((?:const |struct |enum |unsigned )*\w+ )(\*?\w+(?:\[\w+\])?(?:, \*?\w+(?:\[\w+\])?)+);\s*(/\*\*< .*)?$}) {
    my ($blank, $type, $members, $comment) = ($1, $2, $3, $4 // "");
    my @members = split /, /, $members;
    $members[0] =~ /(\w+)/;
    my $behind = $comment =~ m{\*/\s*$} ? $comment : "/**< See $1. */";
    my $last = pop @members;
    my $first = $comment || @members > 1 ? shift @members : undef;
    my $line = $blank;
    $line .= "$type$first; " . ($comment ? "$behind " : "") if defined $first;
    $line .= "$type$_; $behind " for @members;
    $line .= "$type$last; " . ($comment || $behind);
    $_ = "$line\n";
}
