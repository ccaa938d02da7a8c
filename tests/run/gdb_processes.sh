#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs that were moved, shared libraries, two processes, and one that goes on with another program (exec), in stock GDB:
# each function has its name where it lay at that time, and each process its own path.
set -eu
bin=$1 source=$2 shared=$2/../shared/perfdata/paw
command -v gdb-multiarch >/dev/null || { echo "needs gdb-multiarch, which is not installed"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export HOME=$tmp
said() { # INPUT AND OPTIONS... -- GDB'S COMMANDS...
  local options=() commands=()
  while [[ $1 != -- ]]; do options+=("$1") && shift; done
  shift
  while (($# > 0)); do commands+=(-ex "$1") && shift; done
  timeout 60 "$bin/pugmark" gdb --quiet "${options[@]}" -- -nx -batch "${commands[@]}" 2>&1 || true
}
has() { # TEXT LINE...: each line, a pattern, comes after the ones before
  local text=$1
  shift
  perl -e 'my $text = shift;
    for (@ARGV) { $text =~ /^$_/mg or die "no line $_ after the ones before in:\n$text\n" }' "$text" "$@"
}

own() {
  [[ -e /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1 ]] && command -v qemu-aarch64 clang ld.lld >/dev/null ||
    { echo "needs clang, lld, qemu-aarch64 and libc6-arm64-cross, which are not installed"; exit 77; }
  cat >"$tmp/lib.c" <<'C'
__attribute__((noinline)) long weave(long n)
{
    return n * 3 + 1;
}
__attribute__((noinline)) long knit(long n)
{
    return weave(n) ^ weave(n + 1);
}
C
  cat >"$tmp/main.c" <<'C'
long knit(long n);
__attribute__((noinline)) static long round_of(long n)
{
    return knit(n) + 1;
}
void _start(void)
{
    long all = 0;
    for (long n = 0; n < 5; n++)
        all += round_of(n);
    register long x8 __asm__("x8") = 93;
    register long x0 __asm__("x0") = all & 7;
    __asm__ volatile("svc #0" ::"r"(x8), "r"(x0));
}
C
  local flags=(--target=aarch64-linux-gnu -mno-outline-atomics -O1 -g -ffreestanding -nostdlib -fPIC -fuse-ld=lld -Wl,--build-id=sha1)
  clang "${flags[@]}" -shared -o "$tmp/libweave.so" "$tmp/lib.c"
  clang "${flags[@]}" -pie -Wl,-dynamic-linker,/lib/ld-linux-aarch64.so.1 -Wl,-rpath,"$tmp" -o "$tmp/weaver" "$tmp/main.c" "$tmp/libweave.so"
  "$bin/pugmark" record --quiet --sysroot /usr/aarch64-linux-gnu --protocol etmv4 --perf "$tmp/perf.data" -- "$tmp/weaver" >"$tmp/words" || true
  local text
  text=$(said "$tmp/perf.data" -- 'info sharedlibrary' 'break weave' continue bt finish bt delete 'tbreak round_of' reverse-continue bt)
  has "$text" '0x\w+ +0x\w+ +Yes +.*/libweave\.so' 'Breakpoint 1, weave \(' '#0  weave \(.*lib\.c:3' '#1  0x\w+ in knit \(.*lib\.c:7' \
    '#2  0x\w+ in round_of \(.*main\.c:4' '#3  0x\w+ in _start \(.*main\.c:10' '#0  (0x\w+ in )?knit \(.*lib\.c:7' \
    'Temporary breakpoint 2, round_of \(' '#0  round_of \(.*main\.c:4' '#1  0x\w+ in _start'
}

of_shared() {
  [[ -e $shared ]] || { echo "needs ../shared/perfdata, which is not here"; exit 77; }
  local text
  # Two processes, one of which has a library and was moved: each goes the way that it went.
  cat >"$tmp/steps.py" <<'PY'
import gdb
for thread in [thread for inferior in gdb.inferiors() for thread in inferior.threads()]:
    gdb.execute("pugmark goto #0", to_string=True)
    thread.switch()
    tid = thread.name.split()[-1]
    for n in range(300):
        if n:
            gdb.execute("stepi", to_string=True)
            thread.switch()
        print("\npath %s %x" % (tid, int(gdb.parse_and_eval("(unsigned long long)$pc"))))
PY
  text=$(said "$shared/cpu-shared.data" --symfs "$shared/root" -- 'set scheduler-locking on' 'info threads' "source $tmp/steps.py")
  for tid in 700 710; do
    # An exception has a position of its own, with the address that it returns to.
    sed -n "s/^path $tid //p" <<<"$text" | uniq >"$tmp/path"
    xz -dc "$shared/expected/cpu-shared.path.xz" | awk -v tid=$tid '$1 == tid {print $2}' | uniq | head -n "$(wc -l <"$tmp/path")" >"$tmp/wanted"
    [[ $(wc -l <"$tmp/path") -gt 290 ]] && cmp -s "$tmp/wanted" "$tmp/path" ||
      { echo "process $tid goes another way:"; diff "$tmp/wanted" "$tmp/path" | head -5; tail -5 <<<"$text"; exit 1; }
  done
  has "$text" '\* 1\.1 +Thread 1\.1 "paw-static 700" +0x0000000000400150 in _start' ' +2\.1 +Thread 2\.2 "paw 710" +0x00000055000003d0 in _start'
  # exec at the same addresses: names, and breakpoints by name, are those of the program that is there.
  text=$(said "$shared/exec.data" --symfs "$shared/root" -- 'break fib' 'pugmark goto #1000' continue bt reverse-continue bt 'pugmark goto #1300' bt)
  has "$text" 'Breakpoint 1, fib' '#0  fib ' '#\d  0x00000000004001a8 in _start \(\) (at|from) .*/other-static' 'Breakpoint 1, fib' \
    '#3  0x0000000000400160 in _start \(\) (at|from) .*/paw-static' '#1300 ' '#3  0x00000000004001a8 in _start \(\) (at|from) .*/other-static'
}

if [[ ${PUG_PART:-own} == own ]]; then own; fi
if [[ ${PUG_PART:-shared} == shared ]]; then of_shared; fi
