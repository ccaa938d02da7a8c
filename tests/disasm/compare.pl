#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# compare.pl OBJDUMP LINES ISA FILE [MOST]: disassembles FILE with binutils (up to so many instructions), asks LINES (disasm_lines) for the same
# instructions, makes spaces and aliases alike, and prints "SAME of ALL", then what differs most.
use strict;
use warnings;

my ($objdump, $lines, $isa, $file, $most) = @ARGV;
my ($is_a64, $is_rv) = ($isa eq 'A64', $isa =~ /^RV/);

# Names that one of the two writes for an encoding of the other's.
my %mnemonics = (
    # binutils leaves the i of immediates away
    (map { ("${_}i" => $_, "${_}iw" => "${_}w") } qw(add sll srl sra and or xor slt)), csrsi => 'csrs', csrci => 'csrc', csrwi => 'csrw',
    sltiu => 'sltu', 'fmv.x.s' => 'fmv.x.w', 'fmv.s.x' => 'fmv.w.x',
    stmia => 'stm', ldmia => 'ldm', stmfd => 'stmdb', ldmfd => 'ldm', 'uxtl' => 'ushll', 'uxtl2' => 'ushll2', 'sxtl' => 'sshll', 'sxtl2' => 'sshll2',
);

sub number {
    my $n = shift;
    no warnings 'portable';
    my $value = $n =~ /^-0x(.*)/ ? sprintf('%u', -hex $1) : $n =~ /^0x/ ? sprintf('%u', hex $n) : $n =~ /^-/ ? sprintf('%u', $n) : $n + 0;
    return $value >= 0xffffffff00000000 ? $value & 0xffffffff : $value; # -1 of 32 bits and of 64
}

# A64, A32 and T32.
sub arm_form {
    my ($m, $o) = @_;
    $m =~ s/\.[nw]$// if !$is_a64;
    $m =~ s/(^b\.?|[a-z]{2}s?)cs$/$1hs/, $m =~ s/(^b\.?|[a-z]{2}s?)cc$/$1lo/;
    $o =~ s/\bcs$/hs/, $o =~ s/\bcc$/lo/;
    if ($is_a64) {
        $o .= ',0' if $m =~ /^[us]xtl2?$/;
        return ($m, $o);
    }
    $o =~ s/\b(r9|r10|r11|r12|sb|sl|fp|ip)\b/{r9 => 'sb', r10 => 'sl', r11 => 'fp', r12 => 'ip'}->{$1} \/\/ $1/ge;
    $o =~ s/\bcr(\d+)/c$1/g, $o =~ s/\{(\d+)\}$/$1/, $o =~ s/^(\d+),/p$1,/ if $m =~ /^(mcr|mrc|cdp|mcrr|mrrc)/;
    $o =~ s/\s*@ \(.*//; # binutils' other form
    ($m, $o) = ("ldr$1", "$2,[sp],4") if "$m $o" =~ /^pop(\w*) \{(\w+)\}$/;
    ($m, $o) = ("str$1", "$2,[sp,4294967292]!") if "$m $o" =~ /^push(\w*) \{(\w+)\}$/;
    ($m, $o) = ("rrx$1", $2) if "$m $o" =~ /^mov(\S*) (.*),rrx$/;
    ($m, $o) = ("ldm$1", "sp!,$o") if $m =~ /^pop(.*)$/;
    ($m, $o) = ("stmdb$1", "sp!,$o") if $m =~ /^push(.*)$/;
    ($m, $o) = ("rsb$1", "$o,0") if $m =~ /^neg(.*)$/;
    if ($m =~ /^(lsl|lsr|asr|ror)(.*)$/) {
        my ($shift, $rest) = ($1, $2);
        $m = "mov$rest" if $o =~ s/^(\w+,\w+),(\w+)$/$1,$shift$2/;
    }
    $o =~ s/^(\w+),\w+,(\[.*)/$1,$2/ if $m =~ /^(ldrd|strd)/;
    ($m, $o) = ('nop', '') if "$m $o" eq 'mov r0,r0';
    $o = "$1,sp,$1" if $m eq 'add' && $o =~ /^(\w+),sp$/;
    $m = 'adr' . $1 if $m =~ /^sub(.*)$/ && $o =~ s/^(\w+),pc,(\d+)$/$1,-$2/;
    if ($o =~ /^(\w+),pc,(\d+)$/) { $o = "$1,$2", $m =~ s/^add/adr/ }
    $m =~ s/^(v(?:ldr|str|mov|push|pop))\.(?:f?64|f?32)$/$1/;
    $o =~ s/,0\]/]/;
    return ($m, $o);
}

# One form of writing for both.
sub form {
    my $text = lc shift;
    $text =~ s/\s*(\/\/|;|@ ).*// if !$is_rv;
    $text =~ s/\s*# .*// if $is_rv;
    $text =~ s/\s*<[^>]*>//g;
    $text =~ s/\s+/ /g;
    $text =~ s/^\s+|\s+$|#//g;
    my ($m, $o) = split / /, $text, 2;
    $o //= '';
    $o =~ s/ ?([,\[\]{}!]) ?/$1/g;
    $o =~ s/(?<![\w.])(-?0x[0-9a-f]+|-?\d+)(?![\w.])/number($1)/ge;
    $o =~ s/(-?\d+\.\d+(?:e[-+]\d+)?)(?=$|,)/$1 + 0/ge;
    $o =~ s/ //g;
    if ($is_rv) {
        ($m, $o) = ('zext.b', $1) if $m eq 'andi' && $o =~ /^(.*),255$/;
        $o =~ s/\bs0\b/fp/g;
    } else {
        ($m, $o) = arm_form($m, $o);
    }
    return ($mnemonics{$m} // $m) . " $o";
}

my (@want, @ask);
open my $dump, '-|', $objdump, '-d', '-z', '--no-show-raw-insn', '--show-raw-insn', $file or die;
while (<$dump>) {
    last if $most && @want == $most;
    next unless /^\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(.+)$/;
    my ($address, $raw, $text) = ($1, $2, $3);
    # Data between functions, which never runs: words that are no instructions, or those of coprocessors that no core has.
    next if $text =~ /^\.(word|short|byte|inst|insn|4byte|2byte)|undefined|UNDEFINED|illegal|UNPREDICTABLE/;
    next if $text =~ /^(stc|ldc|mcr|mrc|mcrr|mrrc|cdp)2?l?\S*\s+(p?\d+)/ && $2 !~ /^p?1[45]$/ || $text =~ /^(stc|ldc|cdp|\w+2\b)/;
    my $bytes = join '', map { join '', reverse unpack '(A2)*', $_ } split / /, $raw;
    my $set = $isa eq 'A32' && length $raw != 8 ? 'T32' : $isa;
    push @ask, "$set $address $bytes\n";
    push @want, $text;
}
close $dump;
my $tmp = "/tmp/compare.$$";
open my $to, '>', $tmp or die;
print $to @ask;
close $to;
open my $from, '-|', "$lines <$tmp" or die;
my ($same, %differ, %example, %form) = (0);
for my $i (0 .. $#want) {
    my $got = <$from> // last;
    chomp $got;
    # binutils writes addresses in hexadecimal without a prefix, where a symbol follows or a branch leads.
    (my $want = $want[$i]) =~ s/\b([0-9a-f]+) (<)/0x$1 $2/;
    my ($w, $g) = map { $form{$_} //= form($_) } $want, $got;
    if ($w eq $g) { $same++; next }
    my $key = (split / /, $w)[0] . ' / ' . (split / /, $g)[0];
    $differ{$key}++;
    $example{$key} //= "want '$want[$i]' got '$got' at $ask[$i]";
}
unlink $tmp;
printf "%d of %d\n", $same, scalar @want;
my $n = 0;
for my $key (sort { $differ{$b} <=> $differ{$a} } keys %differ) {
    last if $n++ == 25;
    print "$differ{$key}  $example{$key}";
}
