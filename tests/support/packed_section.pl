#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# packed_section.pl ELF SECTION OUT: a 64-bit ELF file, lowest byte first, with one more section, of 256 MB of nulls that are packed. libdw
# looks into .gnu_debugdata where there is no symbol table: that is no more one.
use strict;
use warnings;
use Compress::Zlib;

my ($from, $name, $to) = @ARGV;
my $size = 256 << 20;

sub deflated {
    my $deflate = deflateInit(-Level => 9) or die;
    my $nulls = "\0" x (1 << 20);
    my $out = '';
    $out .= $deflate->deflate(\$nulls) for 1 .. $size >> 20;
    return $out . $deflate->flush();
}

sub xz {
    my $made = `head -c $size /dev/zero | xz -c -1`;
    exit 77 if $? || !length $made;
    return $made;
}

open my $in, '<:raw', $from or die "$from: $!";
my $elf = do { local $/; <$in> };
my $packed = $name eq '.gnu_debugdata' ? xz() : deflated();
$packed = "ZLIB" . pack('Q>', $size) . $packed if $name =~ /^\.z/;
$packed = pack('VVQ<Q<', 1, 0, $size, 1) . $packed if $name =~ /^\.d/;
my $flags = $name =~ /^\.d/ ? 0x800 : 0; # SHF_COMPRESSED

# Section headers and their names move to the end, with one more of each.
my ($headers) = unpack 'Q<', substr $elf, 0x28, 8;
my ($count, $names) = unpack 'v2', substr $elf, 0x3c, 4;
my $table = substr $elf, $headers, 64 * $count;
for (my $i = 0; $name eq '.gnu_debugdata' && $i < $count; $i++) {
    substr $table, 64 * $i + 4, 4, pack 'V', 0 if unpack('V', substr $table, 64 * $i + 4, 4) == 2;
}
my ($at, $length) = unpack 'Q<2', substr $table, 64 * $names + 24, 16;
my $texts = substr($elf, $at, $length) . "$name\0";
my $body = $elf . "\0" x (-length($elf) % 16);
substr $table, 64 * $names + 24, 16, pack 'Q<2', length $body, length $texts;
$body .= $texts . "\0" x (-length($texts) % 16);
$table .= pack 'VVQ<Q<Q<Q<VVQ<Q<', $length, 1, $flags, 0, length $body, length $packed, 0, 0, 1, 0;
$body .= $packed . "\0" x (-length($packed) % 16);
substr $body, 0x28, 8, pack 'Q<', length $body;
substr $body, 0x3c, 2, pack 'v', $count + 1;
open my $out, '>:raw', $to or die "$to: $!";
print $out $body, $table;
