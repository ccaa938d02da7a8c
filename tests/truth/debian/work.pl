#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Hashes, sorting, regular expressions, an exception.
my (%strings, $sum);
for my $i (1 .. 3000) {
    my $key = "k" . ($i * 7919 % 503);
    $strings{$key} .= chr(65 + $i % 26);
    $sum += length $strings{$key};
}
my @keys = sort { length $strings{$a} <=> length $strings{$b} or $a cmp $b } keys %strings;
print "$sum @keys[0 .. 3]\n";
print join(",", map { s/(k)(\d)/$2$1/r } grep { /7/ } @keys[0 .. 40]), "\n";
eval { die {x => 1} };
print ref $@, "\n";
