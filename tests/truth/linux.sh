#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# linux.sh BIN WORK FOLDER LIMIT [arm64 armhf riscv64]: Linux kernels that boot under QEMU and run two programs of ours at the
# same addresses, for so many instructions each, compared with what ran; and the kernel's functions by name, from the
# symbols that it printed when it booted before. FOLDER keeps Debian's netboot kernels. Debian 12 has no kernel for
# riscv64: there OpenSBI, which QEMU brings, boots a supervisor of ours. 77: kernels, apt-get or QEMU are not there.
set -eu
bin=$1 work=$2 folder=$3 limit=$4
shift 4
here=$(dirname "$0")
mkdir -p "$work" "$folder"

# The archive that the kernel unpacks: a console, a place for its symbols, and the programs of a set of instructions.
archive() {
  perl -e 'sub file { local (@ARGV, $/) = $_[0]; <> }
    my ($number, $folder, $set) = (0, @ARGV);
    for (["dev", 040755, "", 0, 0], ["dev/console", 020600, "", 5, 1], ["proc", 040755, "", 0, 0],
      ["init", 0100755, file("$folder/linux_init.$set"), 0, 0], ["mixture", 0100755, file("$folder/mixture.$set"), 0, 0],
      ["plain", 0100755, file("$folder/plain.$set"), 0, 0], ["TRAILER!!!", 0, "", 0, 0]) {
      my ($name, $mode, $data, $major, $minor) = @$_;
      my @fields = (++$number, $mode, 0, 0, 1, 0, length $data, 0, 0, $major, $minor, 1 + length $name, 0);
      my $head = "070701" . join("", map { sprintf "%08X", $_ } @fields);
      for ("$head$name\0", $data) { print $_, "\0" x (-length($_) % 4) }
    }' "$work/programs" "$1"
}

# name_some CALLS NAMES: these functions have names, and few have none.
name_some() {
  local name
  for name in $2; do
    grep -qE "\\<$name\\>" "$1" || { echo "$name is missing"; return 1; }
  done
  echo "$(grep -c . "$1") functions, $(grep -cE '\[[0-9a-f]{8,}\]' "$1" || true) without a name"
}

# linux ARCHITECTURE SET KERNEL PROTOCOLS NAMES EMULATOR...
linux() {
  local architecture=$1 set=$2 kernel=$folder/usr/lib/debian-installer/images/12/$1/text/$3 protocols=$4 names=$5 protocol
  local package=debian-installer-12-netboot-$1
  shift 5
  command -v "$1" >/dev/null || { echo "there is no $1 here"; return; }
  if [[ ! -e $kernel ]]; then
    (cd "$folder" && apt-get -q -q download "$package" && dpkg-deb -x "$package"*.deb .) || { echo "there is no $package here"; return; }
  fi
  "$here/build.sh" "$work/programs" {linux_init,mixture,plain}."$set"
  archive "$set" >"$work/initrd"
  local machine=("$@" -m 1024 -nic none -nographic -kernel "$kernel" -initrd "$work/initrd" -append)
  local options='console=ttyAMA0 nokaslr rdinit=/init --'
  "${machine[@]}" "quiet $options 0" </dev/null | tr -d '\r' | grep -aE '^[0-9a-f]+ [a-zA-Z] ' >"$work/kallsyms"
  "$bin/pugmark" record --quiet --limit "$limit" --path "$work/linux.path" -- "${machine[@]}" "$options 200" \
    </dev/null >"$work/console" 2>&1
  for protocol in $protocols; do
    "$bin/pugmark" record --quiet --force --from "$work/linux.path" --protocol "$protocol" --out "$work/linux" --path "$work/ran"
    printf 'linux on %s, %s: ' "$architecture" "$protocol"
    "$bin/pugmark" pc "$work/linux" --verify "$work/ran"
  done
  "$bin/pugmark" calls "$work/linux" --summary --kallsyms "$work/kallsyms" --elf "$work/programs/mixture.$set" >"$work/calls"
  name_some "$work/calls" "$names" || { echo "FAILED: the kernel's functions have no names"; exit 1; }
  done=yes
}

firmware() {
  local machine=(qemu-system-riscv64 -M virt -nic none -nographic -kernel "$work/supervisor.elf") protocol
  command -v "${machine[0]}" >/dev/null || { echo "there is no ${machine[0]} here"; return; }
  clang --target=riscv64-none-elf -march=rv64imac -mabi=lp64 -mno-relax -c -o "$work/supervisor.o" "$here/supervisor_rv64.S"
  ld.lld -static -n -Ttext=0x80200000 -e _start -o "$work/supervisor.elf" "$work/supervisor.o"
  "$bin/pugmark" record --quiet --limit "$limit" --path "$work/firmware.path" -- "${machine[@]}" </dev/null >"$work/console" 2>&1
  for protocol in etrace ntrace; do
    "$bin/pugmark" record --quiet --force --from "$work/firmware.path" --protocol $protocol --out "$work/firmware" --path "$work/ran"
    printf 'OpenSBI and a supervisor on riscv64, %s: ' $protocol
    "$bin/pugmark" pc "$work/firmware" --verify "$work/ran"
  done
  done=yes
}

done=
[[ $# -gt 0 ]] || set -- arm64 armhf riscv64
for architecture; do
  case $architecture in
    arm64)
      linux arm64 a64 debian-installer/arm64/linux 'etmv4 ete' 'schedule vfs_write do_filp_open fibonacci' \
        qemu-system-aarch64 -M virt -cpu cortex-a57
      ;;
    armhf) # it unpacks itself for 10^9 instructions and more
      limit=$((3 * limit)) linux armhf a32 debian-installer/armhf/vmlinuz 'etmv4 ptm' 'schedule kernel_init do_filp_open' \
        qemu-system-arm -M virt -cpu cortex-a15
      ;;
    riscv64) firmware ;;
  esac
done
[[ $done ]] || exit 77
