#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# book.pl SOURCE BUILD WORK [PAGE...]: does what the pages of docs/book say, and compares what comes with what they show.
#
# ```console            each line that begins with "$ " is a command, with the lines behind it up to a blank-free prompt if
#                       it ends in "\"; other lines are what it prints, and then what it says on standard error. "…" stands for anything
#                       in a line, and alone on a line for any number of lines. A command that fails must be followed by
#                       `$ echo $?`.
# ```console hardware   what needs a probe, a board or root: each command, of a shell ("$ ") or of gdb ("(gdb) "), is a
#                       line of docs/book/tools.txt, and each line there is on a page.
# <!-- needs: a b -->   the page is passed over where a program is missing; @FILE is one of the build, +WORD what
#                       `pugmark --version` says that it was built with.
#
# BOOK_SHARE=K/N runs the commands of every N-th page, from page K on.
# BOOK_FILL=1 writes what commands print into pages that show nothing of it, up to 14 lines.
#
# The commands of a page run in one shell, in an empty folder of the page's own, as `. docs/book/try.sh` makes it.
use strict;
use warnings;
use utf8;
use open qw(:std :encoding(UTF-8));
use constant FILLED => 14;
my ($source, $build, $work, @only) = @ARGV;
my ($bad, $commands, @passed_over, %told, %used) = (0, 0);
my ($share, $shares) = ($ENV{BOOK_SHARE} // '0/1') =~ m{^(\d+)/(\d+)$} or die "BOOK_SHARE: K/N\n";
my %missing;

sub slurp { open my $f, '<', $_[0] or die "$_[0]: $!\n"; local $/; my $text = <$f>; return $text // '' }
sub spit { open my $f, '>', $_[0] or die "$_[0]: $!\n"; print $f $_[1] }
sub wrong { print "$_[0]\n"; $bad++ }

sub there {
    my ($program) = @_;
    $missing{$program} //=
        $program =~ /^\@(.*)/ ? !-e "$build/$1"
      : $program =~ /^\+(.*)/ ? system("'$build/bin/pugmark' --version | grep -qw $1")
      :                         system("command -v $program >/dev/null 2>&1");
    return !$missing{$program};
}

# [page line, 'run' or 'hardware', lines] of each console block.
sub blocks {
    my ($text) = @_;
    my (@blocks, $block, $line);
    for (split /\n/, $text) {
        $line++;
        if (!$block && /^(\s*)```console(?:\s+(.*?))?\s*$/) { $block = [$line, $2 || 'run', [], $1] }
        elsif ($block && /^\s*```\s*$/) { push @blocks, $block; $block = undef }
        elsif ($block) { my $indent = $block->[3]; s/^$indent//; push @{ $block->[2] }, $_ }
    }
    return @blocks;
}

sub pattern {
    my $pattern = '';
    for my $line (@_) {
        if ($line =~ /^\s*…\s*$/) { $pattern .= '(?:.*\n)*?'; next }
        $pattern .= join('.*?', map { quotemeta } split(/…/, $line, -1)) . "[ ]*\n";
    }
    return qr/\A$pattern\z/;
}

sub run_page {
    my ($page, $text, $number) = @_;
    my (@steps, $script);
    for (blocks($text)) {
        my ($line, $kind, $lines) = @$_;
        if ($kind ne 'run') {
            wrong("$page:$line: console $kind: no such kind") if $kind ne 'hardware';
            for (@$lines) {
                if (/^(?:\$|\(gdb\)) (.*)/) { $told{$1} or wrong("$page:$line: not in tools.txt: $1"); $used{$1} = 1 }
                elsif (/\S/) { wrong("$page:$line: neither a command nor empty: $_") }
            }
            next;
        }
        for (@$lines) {
            $line++;
            if (@steps && $steps[-1]{open}) { $steps[-1]{command} .= "\n$_"; $steps[-1]{open} = /\\$/; $steps[-1]{last} = $line }
            elsif (my ($command) = /^\$ (.*)/) { push @steps, { line => $line, last => $line, command => $command, wanted => [], open => scalar(/\\$/) } }
            elsif (@steps) { push @{ $steps[-1]{wanted} }, $_ }
            elsif (/\S/) { wrong("$page:$line: output of no command") }
        }
    }
    return if !@steps || $number % $shares != $share;
    my $folder = "$work/page$number";
    mkdir $folder or die "$folder: $!\n";
    mkdir "$folder/said";
    $script = "cd '$source'\nexport PUGMARK_BUILD='$build' PUGMARK_TRY='$folder/try' LC_ALL=C.UTF-8 NO_COLOR=1\nmkdir '$folder/try'\n"
      . ". docs/book/try.sh\n";
    for my $n (0 .. $#steps) {
        spit("$folder/said/$n.sh", "$steps[$n]{command}\n");
        $script .= "(exit \${code:-0}); . '$folder/said/$n.sh' >'$folder/said/$n.out' 2>'$folder/said/$n.err' </dev/null; code=\$?; "
          . "echo \$code >'$folder/said/$n.code'\n";
    }
    spit("$folder/script", $script);
    system('timeout', '120', 'bash', "$folder/script");
    my %fill;
    for my $n (0 .. $#steps) {
        my $step = $steps[$n];
        my $place = "$page:$step->{line}: $step->{command}";
        $commands++;
        if (!-e "$folder/said/$n.code") { wrong("$place: did not end"); last }
        my ($said, $code) = (slurp("$folder/said/$n.out") . slurp("$folder/said/$n.err"), 0 + slurp("$folder/said/$n.code"));
        my @wanted = @{ $step->{wanted} };
        pop @wanted while @wanted && $wanted[-1] !~ /\S/;
        $said =~ s/\s*\z/\n/ if length $said;
        my $asked = $n < $#steps && $steps[ $n + 1 ]{command} eq 'echo $?';
        if (!@wanted && length $said && $ENV{BOOK_FILL} && (!$code || $asked)) {
            my @lines = split /\n/, $said;
            splice @lines, FILLED, @lines, '…' if @lines > FILLED;
            $fill{ $step->{last} } = \@lines;
        } elsif ($said !~ pattern(@wanted)) {
            wrong("$place\n--- the page says\n" . join('', map { "$_\n" } @wanted) . "--- it printed\n$said---");
        }
        wrong("$place: ended with $code\n$said") if $code && !$asked;
    }
    if (%fill) {
        my ($n, @lines) = (0);
        for (split /\n/, slurp("$source/$page")) { push @lines, $_, @{ $fill{ ++$n } // [] } }
        spit("$source/$page", join("\n", @lines) . "\n");
    }
}

for (split /\n/, slurp("$source/docs/book/tools.txt")) {
    next if /^\s*(#|$)/;
    my @fields = /^(.*?) \| (.*?) \| (.*) \| (.*?)$/;
    @fields == 4 or wrong("docs/book/tools.txt: not four fields: $_");
    $told{ $fields[2] // '' } = 1;
}
chomp(my @pages = @only ? @only : `cd '$source' && find docs/book README.md -name '*.md' | LC_ALL=C sort`);
my $number = 0;
for my $page (@pages) {
    my $text = slurp("$source/$page");
    my @absent = map { grep { !there($_) } split ' ' } $text =~ /<!-- needs: (.*?) -->/g;
    if (@absent) { push @passed_over, $number % $shares == $share ? "$page (@absent)" : (); $text =~ s/```console\n/```text\n/g }
    run_page($page, $text, $number++);
}
if (!@only) { $used{$_} or wrong("docs/book/tools.txt: on no page: $_") for sort keys %told }
print "$commands commands on ", scalar(@pages), " pages\n";
print "passed over: $_\n" for @passed_over;
exit($bad ? 1 : 0);
