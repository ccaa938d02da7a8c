#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# linux.sh BIN WORK FOLDER LIMIT: a Linux kernel that boots under qemu-system-aarch64 and runs a program of ours as
# /init, for so many instructions, compared with what ran. FOLDER keeps Debian's netboot kernel. 77: it, apt-get or
# QEMU is not there.
set -eu
bin=$1 work=$2 out=$3 limit=$4
here=$(dirname "$0")
package=debian-installer-12-netboot-arm64
kernel=$out/usr/lib/debian-installer/images/12/arm64/text/debian-installer/arm64/linux
command -v qemu-system-aarch64 >/dev/null || { echo "there is no qemu-system-aarch64 here"; exit 77; }
mkdir -p "$work" "$out"
if [[ ! -e $kernel ]]; then
  (cd "$out" && apt-get -q -q download $package && dpkg-deb -x $package*.deb .) || { echo "there is no $package here"; exit 77; }
fi
"$here/build.sh" "$work/programs" mixture.a64

# The archive that the kernel unpacks: a console, and the program.
perl -e 'my ($number, $init) = (0, do { local (@ARGV, $/) = $ARGV[0]; <> });
  for (["dev", 040755, "", 0, 0], ["dev/console", 020600, "", 5, 1], ["init", 0100755, $init, 0, 0], ["TRAILER!!!", 0, "", 0, 0]) {
    my ($name, $mode, $data, $major, $minor) = @$_;
    my @fields = (++$number, $mode, 0, 0, 1, 0, length $data, 0, 0, $major, $minor, 1 + length $name, 0);
    my $head = "070701" . join("", map { sprintf "%08X", $_ } @fields);
    for ("$head$name\0", $data) { print $_, "\0" x (-length($_) % 4) }
  }' "$work/programs/mixture.a64" >"$work/initrd"

"$bin/pugmark" record --quiet --limit "$limit" --path "$work/linux.path" -- qemu-system-aarch64 -M virt -cpu cortex-a57 -m 1024 \
  -nic none -nographic -kernel "$kernel" -initrd "$work/initrd" -append 'console=ttyAMA0 nokaslr rdinit=/init -- 2000' \
  </dev/null >"$work/console" 2>&1
for protocol in etmv4 ete; do
  "$bin/pugmark" record --quiet --from "$work/linux.path" --protocol $protocol --out "$work/linux" --path "$work/ran"
  printf 'linux, %s: ' $protocol
  "$bin/pugmark" pc "$work/linux" --verify "$work/ran"
done
