#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `pugmark gdb` of a live input: at its edge `continue` waits, an interrupt lets one go back, and history ends when the
# stream does.
set -eu
bin=$1 source=$2
tmp=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$tmp"' EXIT
capture=$source/examples/crash
mkfifo "$tmp/stream"
# Half of the trace; the rest when it is asked for.
perl -e '
  my ($trace, $stream, $go) = @ARGV;
  local $/;
  open my $in, "<:raw", $trace or die;
  my $bytes = <$in>;
  open my $out, ">:raw", $stream or die;
  $out->autoflush(1);
  print $out substr $bytes, 0, 144;
  select undef, undef, undef, 0.02 while !-e $go;
  print $out substr $bytes, 144;
' -MIO::Handle "$capture/trace.bin" "$tmp/stream" "$tmp/go" &
settings=$(sed -n 's/^\(TRC[A-Z0-9]*\)(0x[0-9a-f]*)=\(.*\)$/--set=\1=\2/p' "$capture/trace_0.ini" | grep -v AUTHSTATUS)
read -rd '' -a options <<<"$settings" || true
"$bin/pugmark" gdb --quiet --port 0 --once --protocol etmv4i --transport coresight "${options[@]}" --elf "$capture/crash" \
  "$tmp/stream" 2>"$tmp/said" &
for ((n = 0; n < 200; n++)); do
  port=$(sed -n "s/.*127.0.0.1:\([0-9]*\)'*$/\1/p" "$tmp/said")
  [[ ! $port ]] || break
  sleep 0.05
done
[[ $port ]] || { cat "$tmp/said"; exit 1; }

perl -e '
  use IO::Socket::INET;
  my ($port, $go) = @ARGV;
  $SIG{ALRM} = sub { die "no answer\n" };
  alarm 60;
  my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or die "no connection: $!\n";
  my $got = "";
  sub packet { my $sum = 0; $sum += ord for split //, $_[0]; sprintf "\$%s#%02x", $_[0], $sum & 255 }
  sub answer {
    for (;;) {
      if ($got =~ s/^[^\$]*\$([^#]*)#..//) {
        my $answer = $1;
        print $socket "+";
        return $answer if $answer !~ /^O[0-9a-f]/;
        next;
      }
      sysread($socket, $got, 65536, length $got) or die "it went away\n";
    }
  }
  sub ask { print $socket packet($_[0]); answer() }
  sub wanted { my ($what, $answer, $pattern) = @_; $answer =~ $pattern or die "$what: $answer\n" }
  wanted("supported", ask("qSupported:swbreak+;multiprocess+"), qr/ReverseStep/);
  wanted("stop", ask("?"), qr/^T05/);
  # It runs to the edge, and waits there.
  print $socket packet("vCont;c:p1.-1");
  my $ready = "";
  vec($ready, fileno $socket, 1) = 1;
  sysread($socket, $got, 65536, length $got); # the acknowledgement
  die "it did not wait: $got\n" if select(my $copy = $ready, undef, undef, 0.7);
  print $socket "\x03";
  wanted("interrupt", answer(), qr/^T02/);
  my ($edge) = ask("g") =~ /^.{512}(.{16})/; # pc
  wanted("back", ask("bs"), qr/^T05/);
  wanted("back", ask("bs"), qr/^T05/);
  wanted("forward", ask("vCont;s:p1.1;c:p1.-1"), qr/^T05/);
  print $socket packet("vCont;c:p1.-1");
  open my $file, ">", $go or die;
  close $file;
  # Now the stream ends, and history with it.
  wanted("end", answer(), qr/^T05.*replaylog:end;/);
  my ($end) = ask("g") =~ /^.{512}(.{16})/;
  die "the end is where the edge was: $edge\n" if $edge eq $end || $end ne "e802210000000000";
  wanted("begin", ask("bc"), qr/^T05.*replaylog:begin;/);
  wanted("detach", ask("D"), qr/^OK/);
' "$port" "$tmp/go"
wait
