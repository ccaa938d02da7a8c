#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Memory over `pugmark gdb` where the trace has data: at any position it is what the accesses before it say, and where
# none says it is not known.
set -eu
bin=$1 source=$2
command -v qemu-arm >/dev/null || { echo "needs QEMU's user emulators, which are not installed"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
bash "$source/tests/truth/build.sh" "$tmp" accesses.rv64 accesses.a32 || { echo "needs clang and lld, which are not installed"; exit 77; }
for set in rv64 a32; do
  protocol=etrace
  [[ $set == rv64 ]] || protocol=etmv3
  "$bin/pugmark" record --quiet --protocol $protocol --data --out "$tmp/$set" -- "$tmp/accesses.$set" 1 >"$tmp/said"
  "$bin/pugmark" list --quiet "$tmp/$set" >"$tmp/list"
  perl -e '
    use IPC::Open2;
    my ($pugmark, $capture, $list) = @ARGV;
    my $pid = open2(my $from, my $to, $pugmark, "gdb", "--quiet", "--stdio", $capture);
    $SIG{ALRM} = sub { die "no answer\n" };
    alarm 100;
    my $got = "";
    sub ask {
      my $sum = 0;
      $sum += ord for split //, $_[0];
      syswrite $to, sprintf "\$%s#%02x", $_[0], $sum & 255;
      for (;;) {
        if ($got =~ s/^[^\$]*\$([^#]*)#..//s) {
          my $answer = $1;
          syswrite $to, "+";
          return $answer if $answer !~ /^O[0-9a-f]/;
          next;
        }
        sysread($from, $got, 65536, length $got) or die "it went away\n";
      }
    }
    sub pc { my ($place) = pack("H*", ask("qRcmd," . unpack("H*", "goto #$_[0]"))) =~ /^#\d+  0x(\w+)/; $place }
    # Positions of accesses: those of instructions, by their places in the ranges before.
    srand 1;
    my ($position, $checked, $unknown, $range, $gap, $next, %memory, @last) = (0, 0, 0);
    open my $lines, "<", $list or die;
    while (<$lines>) {
      if (/INSTR_RANGE\(exec range=0x(\w+):\[0x(\w+)\] num_i\((\d+)\) last_sz\(\d\) \(ISA=\w+\) (\w) (...)/) {
        my ($start, $count) = ($1, $3);
        $position++ if $gap && $next && $next ne $start; # where the stretch before ended
        ($gap, $next) = (0, $4 eq "N" || $5 eq "---" ? $2 : "");
        # At the end of the range before all of its accesses are done.
        if ($range && @last && rand() < 0.3 && pc($position) eq $start) {
          my $address = $last[rand @last];
          my $answer = ask(sprintf "m%x,1", $address);
          my $wanted = defined $memory{$address} ? sprintf "%02x", $memory{$address} : "E01";
          die "position $position: at " . sprintf("%x", $address) . " $answer, expected $wanted\n" if $answer ne $wanted;
          $checked++;
          $unknown += $wanted eq "E01";
        }
        $range = $start;
        $position += $count;
        @last = @last[-40 .. -1] if @last > 200;
      } elsif (/EXCEPTION\(pref ret/) {
        ($position, $next) = ($position + 1, "");
      } elsif (/DATA_(VALUE|ADDRESS)\((\w+)(?: operand)? addr=0x(\w+) size=(\d+)(?: value=0x(\w+))?/) {
        my ($kind, $address, $size, $value) = ($2, hex $3, $4, $5);
        next if $kind =~ /fail|csr/;
        for my $n (0 .. $size - 1) {
          $memory{$address + $n} = $kind =~ /^(?:load|store)$/ && defined $value ? hex($value) >> 8 * $n & 255 : undef;
          push @last, $address + $n;
        }
      } elsif (/TRACE_ON|NO_SYNC/) {
        ($gap, $range) = (1, "");
      }
    }
    die "only $checked places were looked at\n" if $checked < 100;
    print "$checked places, $unknown of them not known\n";
    close $to;
    waitpid $pid, 0;
  ' "$bin/pugmark" "$tmp/$set" "$tmp/list" || { echo "$set: failed"; exit 1; }
done
