#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# elf_bombs.pl KIND OUT: an AArch64 program at 0x1000 that calls itself, of at most a megabyte, of which a reader could make gigabytes or
# hours. KINDs are the names of the subroutines in %kinds.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use SmallElf;

my ($kind, $out) = @ARGV;
my $code = pack('V*', (0x94000000) x 1024);

sub symbols { pack('VCCvQQ', (0) x 6) . join '', @_ }
sub uleb { my ($n) = @_; my $o = ''; while ($n > 127) { $o .= chr($n & 127 | 128); $n >>= 7; } $o . chr $n }

# A unit of DWARF 4 behind its length.
sub unit { my ($abbreviations, $entries) = @_; pack('VvVC', 7 + length $entries, 4, $abbreviations, 8) . $entries }

sub unit5 { my ($entries) = @_; pack('VvCCV', 8 + length $entries, 5, 1, 8, 0) . $entries }

# A file of sections and segments that may lie over each other: lists of headers without their names.
sub overlapping {
    my ($big, $contents, $sections, $segments) = @_;
    my $w = $big ? '>' : '<';
    my ($count, $parts) = (scalar @$sections, scalar @$segments);
    my $body = 0x2000 + 56 * (1 + $parts);
    my $at = $body + length $contents;
    my $header = sub { pack "L${w}2Q${w}4L${w}2Q${w}2", @_ };
    my $names = "\0.text\0.note\0.shstrtab\0";
    my @all = ($header->((0) x 10), $header->(1, 1, 6, 0x1000, 0x1000, length $code, 0, 0, 4, 0),
        (map { my ($name, $type, $flags, $offset, $size) = @$_; $header->($name, $type, $flags, 0x1000, $body + $offset, $size, 0, 0, 4, 0) } @$sections),
        $header->(13, 3, 0, 0, $at, length $names, 0, 0, 1, 0));
    my $program = sub { pack "L${w}2Q${w}6", @_ };
    my $file = "\x7fELF\x02" . ($big ? "\x02" : "\x01") . "\x01" . "\0" x 9
        . pack("S${w}2L${w}Q${w}3L${w}S${w}6", 2, 183, 1, 0x1000, 0x2000, $at + length $names, 0, 64, 56, 1 + $parts, 64, scalar @all, $#all);
    open my $to, '>:raw', $out or die "$out: $!\n";
    print $to $file, "\0" x (0x1000 - length $file), $code, $program->(1, 5, 0x1000, 0x1000, 0x1000, length $code, length $code, 0x1000),
        (map { $program->(4, 4, $body + $_->[0], 0, 0, $_->[1], $_->[1], 4) } @$segments), $contents, $names, @all;
    close $to or die "$out: $!\n";
}

my $line_header = pack('C*', 1, 1, 1, 251, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1);
my %kinds = (
    # 7,000 sections that all have the same code, in which 20,000 symbols tell code from data.
    marks => sub {
        my $names = "\0\$x\0\$d\0";
        my $table = symbols(map { pack 'VCCvQQ', $_ & 1 ? 1 : 4, 0, 0, 1, 0x1000 + $_ % 4096, 0 } 1 .. 20000);
        write_marks($table, $names);
    },
    # 10,000 sections of code, each of them the whole file.
    sections => sub { overlapping(0, "\x1f\x20\x03\xd5" x 100000, [map { [1, 1, 6, 0, 400000 - 4 * $_] } 1 .. 8000], []) },
    # 4,000 segments and 4,000 sections of notes, each of them nearly the whole file; of both byte orders.
    notes => sub { notes(0) },
    foreign_notes => sub { notes(1) },
    # 15,000 units, each of which uses the last of 80,000 abbreviations.
    abbreviations => sub {
        my $table = join('', map { uleb($_) . "\x2e\0\0\0" } 1 .. 80000) . uleb(80001) . "\x11\0\x11\1\x12\6\0\0\0";
        my $units = join '', map { unit(0, uleb(80001) . pack('QV', 0x1000 + 4 * ($_ % 1000), 4)) } 1 .. 15000;
        write_program($out, $code, ['.debug_abbrev', 1, $table], ['.debug_info', 1, $units]);
    },
    # 80,000 files in one folder, whose name is half a megabyte long.
    files => sub { files('d' x 400000, '', "f\0\1\0\0" x 80000) },
    # The same where the unit names the folder.
    folder => sub { files('', 'd' x 400000, "f\0\0\0\0" x 80000) },
    # 60,000 functions, whose ranges are 30,000 new bases and no range.
    bases => sub {
        my $abbreviations = "\1\x11\1\x11\1\x12\6\0\0\2\x2e\0\x55\x17\3\x08\0\0\0";
        my $functions = join '', map { pack('CV', 2, 16 * ($_ % 64)) . "\0" } 1 .. 60000;
        my $ranges = pack('QQ', 2 ** 64 - 1, 0) x 30000 . pack('QQ', 0, 0);
        write_program($out, $code, ['.debug_abbrev', 1, $abbreviations], ['.debug_info', 1, unit(0, "\1" . pack('QV', 0x1000, 4096) . $functions . "\0")], ['.debug_ranges', 1, $ranges]);
    },
    # The same of DWARF 5, with bases of two bytes.
    bases5 => sub {
        my $functions = join '', map { pack('CV', 2, 12 + 2 * ($_ % 64)) . "\0" } 1 .. 60000;
        my $lists = pack('vCCV', 5, 8, 0, 0) . "\1\0" x 150000 . "\0";
        write_program($out, $code, ['.debug_abbrev', 1, "\1\x11\1\x11\1\x12\6\0\0\2\x2e\0\x55\x17\3\x08\0\0\0"],
            ['.debug_info', 1, unit5("\1" . pack('QV', 0x1000, 4096) . $functions . "\0")], ['.debug_rnglists', 1, pack('V', length $lists) . $lists],
            ['.debug_addr', 1, pack('VvCCQ', 12, 5, 8, 0, 0x1000)]);
    },
    # 40,000 variables, whose type are arrays of arrays with other names between them.
    types => sub {
        my $abbreviations = "\1\x11\1\x11\1\x12\6\0\0\2\x34\0\3\x08\2\x18\x49\x13\0\0\3\x16\0\x49\x13\0\0\4\1\1\x49\x13\0\0\5\x21\0\x37\x0b\0\0\6\x24\0\x0b\x0b\0\0\0";
        my ($types, $at) = ('', 11 + 13);
        for my $level (1 .. 60) { # each is of the next: names, then an array of one
            $types .= pack('CV', 3, $at + length($types) + 5) for 1 .. 60;
            $types .= pack('CVCCC', 4, $at + length($types) + 8, 5, 1, 0);
        }
        $types .= pack('CC', 6, 4);
        my $variables = join '', map { "\2v\0\x09\3" . pack('QV', 0x20000000 + 4 * $_, $at) } 1 .. 40000;
        write_program($out, $code, ['.debug_abbrev', 1, $abbreviations], ['.debug_info', 1, unit(0, "\1" . pack('QV', 0x1000, 4096) . $types . $variables . "\0")]);
    },
    # Files that the program of the lines defines.
    defined => sub {
        my $header = $line_header . 'd' x 300000 . "\0\0\0";
        my $table = pack('vV', 4, length $header) . $header . "\0\6\3f\0\1\0\0" x 80000 . pack('CCCQ', 0, 9, 2, 0x1000) . "\x21\2\4\0\1\1";
        write_program($out, $code, ['.debug_abbrev', 1, "\1\x11\0\x10\x17\x11\1\x12\6\0\0\0"], ['.debug_info', 1, unit(0, "\1" . pack('VQV', 0, 0x1000, 4096))],
            ['.debug_line', 1, pack('V', length $table) . $table]);
    },
    # 200,000 files of DWARF 5, whose folder is one text of 500,000 bytes.
    files5 => sub {
        my $rest = pack('C*', 1, 1, 1, 251, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1);
        my $lists = "\1\1\x1f\1" . pack('V', 0) . "\2\1\x08\2\x0b" . uleb(130000) . "f\0\0" x 130000;
        my $header = $rest . $lists;
        my $table = pack('vCCV', 5, 8, 0, length $header) . $header . pack('CCCQ', 0, 9, 2, 0x1000) . "\x21\2\4\0\1\1";
        write_program($out, $code, ['.debug_abbrev', 1, "\1\x11\0\x10\x17\x11\1\x12\6\0\0\0"], ['.debug_info', 1, unit5("\1" . pack('VQV', 0, 0x1000, 4096))],
            ['.debug_line', 1, pack('V', length $table) . $table], ['.debug_line_str', 1, 'd' x 500000 . "\0"]);
    },
);

sub notes {
    my ($big) = @_;
    my $w = $big ? '>' : '<';
    my $note = pack("L${w}3", 4, 0, 9) . "abc\0";
    overlapping($big, $note x 25000, [map { [7, 7, 2, 16 * $_, 400000 - 16 * $_] } 1 .. 4000], [map { [16 * $_, 400000 - 16 * $_] } 1 .. 4000]);
}

sub files {
    my ($folder, $unit_folder, $files) = @_;
    my $header = $line_header . ($folder ne '' ? "$folder\0" : '') . "\0$files\0";
    my $table = pack('vV', 4, length $header) . $header . pack('CCCQ', 0, 9, 2, 0x1000) . "\x21" x 1000 . "\2\4\0\1\1";
    my $abbreviations = "\1\x11\0\x10\x17\x1b\x08\x11\1\x12\6\0\0\0";
    write_program($out, $code, ['.debug_abbrev', 1, $abbreviations], ['.debug_info', 1, unit(0, "\1" . pack('V', 0) . "$unit_folder\0" . pack('QV', 0x1000, 4096))],
        ['.debug_line', 1, pack('V', length $table) . $table]);
}

# Sections that share the code, beside a table of symbols.
sub write_marks {
    my ($table, $names) = @_;
    my @same = map { ['.text', 1, ''] } 1 .. 7000;
    write_program($out, $code, ['.symtab', 2, $table, 3, 1, 8, 24], ['.strtab', 3, $names], @same);
    # Their headers say that they are the code.
    open my $file, '+<:raw', $out or die "$out: $!\n";
    local $/;
    my $bytes = <$file>;
    my $headers = unpack 'Q<', substr $bytes, 40, 8;
    for my $n (0 .. $#same) {
        substr $bytes, $headers + 64 * (4 + $n), 64, pack 'VVQQQQVVQQ', 1, 1, 6, 0x1000, 0x1000, length $code, 0, 0, 4, 0;
    }
    seek $file, 0, 0;
    print $file $bytes;
    close $file or die "$out: $!\n";
}

if ($kind eq 'kinds') {
    print join("\n", sort keys %kinds), "\n";
} else {
    die "elf_bombs.pl: no kind $kind\n" unless $kinds{$kind};
    $kinds{$kind}->();
}
