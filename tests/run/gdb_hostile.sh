#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The GDB server and strange clients: garbage, huge packets, disconnects, two at once. It answers the next good one.
set -eu
bin=$1 source=$2
tmp=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$tmp"' EXIT
"$bin/pugmark" gdb --port 0 "$source/examples/crash" 2>"$tmp/said" &
server=$!
for ((n = 0; n < 200; n++)); do
  port=$(sed -n "s/.*127.0.0.1:\([0-9]*\)'*$/\1/p" "$tmp/said")
  [[ ! $port ]] || break
  sleep 0.05
done
[[ $port ]] || { cat "$tmp/said"; exit 1; }

# Nothing listens but at the loopback address.
hex=$(printf '%04X' "$port")
if [[ -r /proc/net/tcp ]]; then
  grep -q " 0100007F:$hex " /proc/net/tcp
  if grep -q " 00000000:$hex \| 0\{32\}:$hex " /proc/net/tcp /proc/net/tcp6; then
    echo "it listens at every address"
    exit 1
  fi
fi

perl -e '
  use IO::Socket::INET;
  my ($port, $seed) = @ARGV;
  srand $seed;
  $SIG{ALRM} = sub { die "no answer\n" };
  sub connected { IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or die "no connection: $!\n" }
  sub packet { my $sum = 0; $sum += ord for split //, $_[0]; sprintf "\$%s#%02x", $_[0], $sum & 255 }
  sub ask {
    my ($socket, $words) = @_;
    print $socket packet($words);
    my $got = "";
    for (;;) {
      if ($got =~ s/^[^\$]*\$([^#]*)#..//s) {
        my $answer = $1;
        print $socket "+";
        return $answer if $answer !~ /^O[0-9a-f]/; # what it says meanwhile
        next;
      }
      sysread($socket, $got, 65536, length $got) or return undef;
    }
  }
  # A client that knows what it wants gets it, after each of the others.
  sub good {
    my ($after) = @_;
    alarm 20;
    my $socket = connected();
    for (["qSupported:swbreak+;multiprocess+", qr/ReverseStep\+/], ["?", qr/^T05/], ["g", qr/^[0-9a-fx]{500,}$/],
         ["vCont;s:p1.1;c:p1.-1", qr/^T05/], ["bs", qr/^T05/], ["m210264,4", qr/^[0-9a-f]{8}$/], ["Z2,1000,4", qr/^$/],
         ["Z0,210264,4", qr/^OK$/], ["D", qr/^OK$/]) {
      my $answer = ask($socket, $_->[0]);
      die "after $after: $_->[0] was answered " . ($answer // "nothing") . "\n" unless defined $answer && $answer =~ $_->[1];
    }
    alarm 0;
  }
  my @words = ("qSupported", "?", "g", "G", "p", "p0", "pffffffffffffffff", "m", "m0,", "m0,0", "m0,ffffffffffffffff",
    "mffffffffffffffff,ffffffffffffffff", "mfffffffff0000000,100000", "mfffffffff0007fff,ffffffff", "M0,0:", "X0,0:", "H", "Hg",
    "Hgp", "Hgp1", "Hgp1.", "Hg-1", "Hgp0.0", "Hgp-1.-1", "Hgffffffffffffffff", "Hgp1.ffffffff", "Hcp9.9", "T", "Tp1.7", "T1", "vCont",
    "vCont;", "vCont?", "vCont;s", "vCont;c:p1.-1", "vCont;r", "vCont;r0,0", "vCont;r0,ffffffffffffffff", "vCont;S", "vCont;Cxx",
    "vCont;s:;s:", "vCont;t", "bs", "bc", "b", "s", "c", "S05", "C", "Z", "Z0", "Z0,", "Z0,0", "Z1,210264,4", "z0", "z0,210264,4", "z9",
    "qXfer", "qXfer:", "qXfer::", "qXfer:features:read:target.xml:0,0", "qXfer:features:read:target.xml:ffffffffffffffff,1",
    "qXfer:features:read:target.xml:0,ffffffffffffffff", "qXfer:threads:read::0,fff", "qXfer:threads:read:0,fff", "qXfer:libraries:read::0,fff",
    "qXfer:exec-file:read:1:0,fff", "qXfer:exec-file:read:" . "9" x 400 . ":0,fff", "qXfer:" . "a" x 5000 . ":read::0,1", "qRcmd,",
    "qRcmd,zz", "qRcmd,6", "qRcmd," . unpack("H*", "goto #99999999999999999999"), "qRcmd," . unpack("H*", "goto"),
    "qRcmd," . unpack("H*", "history 18446744073709551615"), "qRcmd," . unpack("H*", "find"), "qRcmd," . unpack("H*", "find address"),
    "qRcmd," . unpack("H*", "back-line"), "qRcmd," . unpack("H*", "compare"), "qRcmd," . unpack("H*", "\e[2Jlosses"),
    "qRcmd," . unpack("H*", "calls " x 900), "qOffsets", "qC", "qfThreadInfo", "qsThreadInfo", "qThreadExtraInfo,", "qThreadExtraInfo,p1.1",
    "qAttached:1", "vMustReplyEmpty", "vFile:open:2f,0,0", "QStartNoAckMode", "!", "R00", "A", "", "\x00", "}\x03", "*" x 100);
  good("nothing");
  for my $round (1 .. 40) {
    my $socket = connected();
    for (1 .. 30) {
      my $words = $words[rand @words];
      substr($words, rand length $words, 1) = chr rand 256 if $words ne "" && rand() < 0.3;
      my $sent = packet($words);
      $sent =~ s/..$/zz/ if rand() < 0.1;
      $sent = join "", map chr rand 256, 1 .. rand 300 if rand() < 0.1;
      $sent .= "\x03" if rand() < 0.1;
      local $SIG{PIPE} = "IGNORE";
      print $socket $sent or last;
    }
    close $socket; # without looking at what was answered
    good("round $round of garbage") if $round % 10 == 0;
  }
  {
    my $socket = connected();
    local $SIG{PIPE} = "IGNORE";
    print $socket "\$" . "m" x 3_000_000 . "#00";
    close $socket;
  }
  good("a huge packet");
  {
    my $first = connected();
    ask($first, "?") =~ /^T05/ or die "the first of two got nothing\n";
    my $second = connected(); # waits until the first one has gone
    ask($first, "bs") =~ /^T05/ or die "the first of two lost its server\n";
    close $first;
    alarm 20;
    ask($second, "?") =~ /^T05/ or die "the second of two got nothing\n";
    alarm 0;
  }
  for (1 .. 50) { close connected() }
  good("fifty that only connected");
' "$port" "${GDB_SEED:-1}"
kill -0 "$server"
