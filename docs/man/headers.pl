#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# Makes manual pages of public headers: a page for each that has a file comment, and libpugmark(3), which lists them.
#   headers.pl DATE VERSION TEMPLATE OUTPUT HEADER...
use strict;
use warnings;

my ($date, $version, $template, $output, @headers) = @ARGV;
die "usage: headers.pl DATE VERSION TEMPLATE OUTPUT HEADER...\n" unless @headers;

# Text as it stands for itself.
sub escape {
    my $text = shift;
    $text =~ s/\\/\\e/g;
    $text =~ s/-/\\-/g;
    $text =~ s/'/\\(aq/g;
    $text =~ s/`/\\(ga/g;
    $text =~ s/\^/\\(ha/g;
    $text =~ s/~/\\(ti/g;
    return $text =~ s/^\./\\&./mr;
}

# Words in lines of less than 80 characters.
sub fill {
    my ($text, @lines) = (shift, '');
    for my $word (split ' ', $text) {
        push @lines, '' if length($lines[-1]) + length($word) > 70;
        $lines[-1] .= ($lines[-1] eq '' ? '' : ' ') . $word;
    }
    return join '', map { "$_\n" } map { s/^([.'])/\\&$1/r } grep { $_ ne '' } @lines;
}

# Code in lines of less than 80 characters: what is longer goes on where there is a blank.
sub code {
    my @lines;
    for my $line (split /\n/, shift) {
        $line =~ s/\s+$//;
        $line =~ s{ +//}{ //} if length $line > 72;
        while (length $line > 72 && $line =~ /^(.{20,71}) +(?=\S)/) {
            my $part = $1;
            push @lines, $part;
            my ($indent) = $line =~ /^( *)/;
            $line = "$indent    " . ($line =~ s/^\Q$part\E +//r);
        }
        push @lines, $line;
    }
    return ".RS 4\n.nf\n" . join('', map { escape($_) . "\n" } @lines) . ".fi\n.RE\n";
}

# A comment's lines: paragraphs, lists and examples.
sub prose {
    my ($out, $kind, $held) = ('', 'first', '');
    my $flush = sub {
        return unless $held =~ /\S/;
        if ($kind eq 'code') { $out .= ".PP\n" if $out ne ''; $out .= code($held) }
        else {
            $out .= $kind eq 'item' ? ".IP \\(bu 2\n" : $kind eq 'first' && $out eq '' ? '' : ".PP\n";
            my $text = escape($held);
            $text =~ s/\b(pug_\w+\(\))/\\fB$1\\fR/g;
            $text =~ s/\\\(ga([^\\]+(?:\\-[^\\]+)*)\\\(ga/\\fB$1\\fR/g;
            $out .= fill($text);
        }
        $held = '';
    };
    for my $line (split /\n/, shift) {
        if ($line =~ /^\s*$/) {
            if ($kind eq 'code') { $held .= "\n" if $held ne ''; next }
            $flush->();
            $kind = 'text';
        }
        elsif ($line =~ /^    (.*)/ && ($held eq '' || $kind eq 'code')) { $flush->() if $kind ne 'code'; $kind = 'code'; $held .= "$1\n" }
        elsif ($line =~ /^- (.*)/) { $flush->(); $kind = 'item'; $held = "$1\n" }
        else {
            if ($kind eq 'code') { $held =~ s/\n+$/\n/; $flush->(); $kind = 'text' }
            $held .= "$line\n";
        }
    }
    $held =~ s/\n+$/\n/;
    $flush->();
    return $out;
}

# What is between /** and */, without the stars.
sub comment {
    my $text = shift;
    $text =~ s{^/\*\*<?\s?}{};
    $text =~ s{\s*\*/$}{};
    $text =~ s{^[ \t]*\* ?}{}mg;
    return $text;
}

# Members of a struct or constants of an enum, each with its comment.
sub members {
    my ($body, @members, $before) = (shift);
    while ($body =~ m{\G\s*(?:(/\*\*<.*?\*/)|(/\*.*?\*/)|//[^\n]*|(\#[^\n]*)|([^;,{}/]*(?:\{[^{}]*\}[^;,{}/]*)?[;,]?))}gcs) {
        my ($after, $own, $decl) = ($1, $2, $4);
        last if !defined $after && !defined $own && (!defined $decl || $decl !~ /\S/) && !defined $3;
        if (defined $after) { $members[-1][1] .= ' ' . comment($after) if @members }
        elsif (defined $own) { $before = $own =~ m{^/\*\*} ? comment($own) : '' }
        elsif (defined $decl && $decl =~ /\S/) {
            $decl =~ s/\s+/ /g;
            $decl =~ s/^ | ?[;,]? ?$//g;
            push @members, [$decl, $before // ''];
            $before = '';
        }
    }
    return @members;
}

sub item {
    my ($name, $text) = @_;
    $text = 'Without a comment.' unless $text =~ /\S/;
    $text =~ s/^\s+|\s+$//g;
    my $head = fill(escape($name));
    $head =~ s/\n(?=.)/ /g;
    chomp $head;
    return ".TP\n\\fB$head\\fR\n" . fill(escape($text));
}

my @pages;
for my $header (@headers) {
    my ($base) = $header =~ m{([^/]+)\.h$} or next;
    open my $in, '<', $header or die "$header: $!\n";
    my $text = do { local $/; <$in> };
    my ($file) = $text =~ m{(/\*\*\s*(?:\*\s*)?\@file.*?\*/)}s or next;
    my $about = comment($file) =~ s/^\s*\@file\s*//r;
    my ($title) = $about =~ /^(.*?[.;])(?:\s|$)/s;
    $title =~ s/\s+/ /g;
    $title =~ s/[.:;]$//;
    $title = lcfirst $title unless $title =~ /^[A-Z]{2}|^Pugmark/;
    my $rest = substr $text, index($text, $file) + length $file;
    $rest =~ s/^static inline (.*?\))\n\{.*?\n\}/$1;/gms;
    $rest =~ s{^(\w[^;{}\n]*\);) /\*\*<(.*?)\*/}{/**$2*/\n$1}gm;
    my ($types, $functions, @names) = ('', '');
    while ($rest =~ m{(/\*\*(?!<).*?\*/)\s*((?:(?:enum|struct|union)\s+\w+\s*(\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})\s*;)|(?:typedef[^;]*;)|(?:\#define[^\n]*)|(?:[^;{}\#/]*\([^;{}]*;))?}gs) {
        my ($comment, $declared, $body) = ($1, $2, $3);
        next unless defined $declared;
        my $said = prose(comment($comment));
        if ($body) {
            my ($name) = $declared =~ /^(\w+\s+\w+)/;
            $types .= ".SS $name\n$said";
            $types .= item(@$_) for members(substr $body, 1, -1);
        }
        elsif ($declared =~ /^#define\s+(\w+)/) { $types .= ".SS $1\n$said" }
        elsif ($declared =~ /^typedef/) { $types .= '.SS ' . (($declared =~ /\b(pug_\w+)\b\s*(?:\)?\s*\(|;)/)[0] // 'typedef') . "\n" . code($declared) . ".PP\n$said" }
        elsif ($declared =~ /\b(pug_\w+)\s*\(/) {
            push @names, $1;
            $functions .= ".SS $1()\n" . code($declared) . ".PP\n$said";
        }
    }
    my $page = "pugmark_$base";
    $page = 'pugmark_h' if $base eq 'pugmark';
    push @pages, [$page, $base, $title];
    open my $out, '>', "$output/$page.3" or die "$output/$page.3: $!\n";
    print $out ".\\\" SPDX-License-Identifier: MIT\n.\\\" Made by docs/man/headers.pl from $base.h.\n",
      '.TH ', uc $page, " 3 \"$date\" \"Pugmark $version\" \"Library Functions\"\n.SH NAME\n",
      fill(escape("$page - $title")), ".SH SYNOPSIS\n.nf\n\\fB#include <pugmark/$base.h>\\fR\n",
      "cc program.c \$(pkg\\-config \\-\\-cflags \\-\\-libs pugmark)\n.fi\n";
    print $out ".PP\n", fill('Functions: ' . join ', ', map { "\\fB$_\\fR()" } @names) if @names;
    print $out ".SH DESCRIPTION\n", prose($about);
    print $out ".SH FUNCTIONS\n$functions" if $functions ne '';
    print $out ".SH TYPES AND CONSTANTS\n$types" if $types ne '';
    print $out ".SH SEE ALSO\n\\fBlibpugmark\\fR(3), \\fBpugmark\\fR(1)\n";
    close $out or die "$output/$page.3: $!\n";
}
open my $in, '<', $template or die "$template: $!\n";
open my $out, '>', "$output/libpugmark.3" or die "$output/libpugmark.3: $!\n";
while (<$in>) {
    s/\@DATE\@/$date/g;
    s/\@VERSION\@/$version/g;
    if (/^\@HEADERS\@$/) {
        print $out ".TP\n\\fB", escape($_->[0]), "\\fR(3)\n", fill(escape("pugmark/$_->[1].h: $_->[2]")) for @pages;
    }
    else { print $out $_ }
}
close $out or die "$output/libpugmark.3: $!\n";
