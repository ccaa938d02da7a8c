# shellcheck shell=bash disable=SC2034  # for who sources it
# SPDX-License-Identifier: MIT
# For tests of live inputs, which source it: a folder of its own, peers that play connections, and free ports.
[[ $(head -c 2 "$1/pugmark") != "#!" ]] || { echo "emulators' sockets are not ours: skipped"; exit 77; }
command -v perl >/dev/null || { echo "no perl: skipped"; exit 77; }
work=$(mktemp -d)
jobs_of_test=()
finish() {
  [[ ${#jobs_of_test[@]} == 0 ]] || kill "${jobs_of_test[@]}" 2>/dev/null
  rm -rf "$work"
}
trap finish EXIT
cd "$work" || exit 1

fail() { echo "$*"; bad=1; }

# comes FILE [WORDS]: there is something in it, or these words; false after ten seconds.
comes() {
  for _ in {1..200}; do
    if [[ $# == 1 ]]; then [[ -s $1 ]] && return; else grep -aqF -- "$2" "$1" 2>/dev/null && return; fi
    sleep 0.05
  done
  return 1
}

# A peer: listens at a free port, which it writes to the file PORT, or at a socket (unix:PATH); plays a connection for each group of pieces up to
# "--". A piece is hexadecimal, "wait:FILE" until a file is there, "touch:FILE" to make one, "sleep:SECONDS", "repeat:TIMES:SECONDS:FILE", "file:FILE" to send what is in it, or "hold" until the other
# side goes away.
cat >peer.pl <<'PERL'
use strict; use warnings; use IO::Socket::INET; use IO::Socket::UNIX; use Socket qw(TCP_NODELAY IPPROTO_TCP);
my ($where, @pieces) = @ARGV;
$SIG{PIPE} = "IGNORE";
my $server = $where =~ /^unix:(.*)/ ? IO::Socket::UNIX->new(Local => $1, Listen => 5)
  : IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 0, Listen => 64, ReuseAddr => 1);
die "no socket: $!" unless $server;
if ($where !~ /^unix:/) { open my $f, ">", "$where.new" or die; print $f $server->sockport; close $f; rename "$where.new", $where; }
my @connections = ([]);
for (@pieces) { if ($_ eq "--") { push @connections, [] } else { push @{$connections[-1]}, $_ } }
for my $connection (@connections) {
  my $peer = $server->accept or last;
  setsockopt $peer, IPPROTO_TCP, TCP_NODELAY, 1 if $where !~ /^unix:/;
  for my $piece (@$connection) {
    if ($piece =~ /^wait:(.*)/) { for (1..200) { last if -e $1; select undef, undef, undef, 0.05 } }
    elsif ($piece eq "hold") { sysread $peer, my $got, 1 }
    elsif ($piece =~ /^sleep:(.*)/) { select undef, undef, undef, $1 }
    elsif ($piece =~ /^repeat:(\d+):([0-9.]+):(.*)/) { open my $f, "<", $3 or die; local $/; my $all = <$f>;
      for (1..$1) { defined syswrite $peer, $all or last; select undef, undef, undef, $2 } }
    elsif ($piece =~ /^touch:(.*)/) { open my $f, ">", $1 or die }
    elsif ($piece =~ /^file:(.*)/) { open my $f, "<", $1 or die; local $/; my $all = <$f>;
      for (my $at = 0; $at < length $all;) { $at += syswrite($peer, $all, 65536, $at) || last } }
    else { syswrite $peer, pack "H*", $piece }
  }
  close $peer;
}
PERL

# play PIECE...: a peer in the background, whose port is in $port.
play() {
  rm -f PORT
  perl peer.pl PORT "$@" &
  jobs_of_test+=($!)
  comes PORT || { echo "the peer did not start"; exit 1; }
  port=$(cat PORT)
}
free_port() { perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport'; }

# Four in a row, for `serve`.
free_ports() {
  perl -MIO::Socket::INET -e 'for (1..100) { my $p = 20000 + int rand 10000; my @s = map { IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => $p + $_, Listen => 1) } 0..3; next if grep { !$_ } @s; print $p; last }'
}

