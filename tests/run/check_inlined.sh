#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark check: rules about functions that a compiler put inside others. A copy in one piece has calls; one in several
# pieces has none that could be seen, which is said before anything is decoded.
#   check_inlined.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark bad=0
for tool in clang ld.lld qemu-aarch64; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool here"; exit 77; }
done
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
fail() { echo "$*"; bad=1; }

cat >whole.c <<'END'
#define INLINE static inline __attribute__((always_inline))
#define APART __attribute__((noinline))
typedef volatile int *place; /* on the stack, so that no instruction of one serves another */
APART void leaf(place at)
{
    (*at)++;
}
INLINE void small(place at, int n)
{
    for (int i = 0; i < n; i++)
        *at += i;
}
INLINE void calls_leaf(place at)
{
    (*at)++;
    leaf(at);
    (*at)++;
}
INLINE void outer(place at, int n)
{
    small(at, n);
    calls_leaf(at);
}
INLINE void lock(place at)
{
    *at = 1;
}
INLINE void unlock(place at)
{
    *at = 0;
}
INLINE void unused(place at)
{
    *at = 77;
}
INLINE void rare(place at)
{
    *at = 78;
}
APART void work(place at, int n)
{
    lock(at);
    small(at, n);
    calls_leaf(at);
    unlock(at);
    if (n > 1000)
        unused(at);
    if (n == 2)
        rare(at);
}
APART void other(place at)
{
    outer(at, 5);
}
__attribute__((used)) void begin(void)
{
    int sink = 0;
    for (int i = 0; i < ROUNDS; i++)
        work(&sink, i);
    other(&sink);
    __asm volatile("mov x8, #93\n mov x0, #0\n svc #0");
}
__attribute__((naked)) void _start(void)
{
    __asm volatile("bl begin");
}
END
cat >pieces.c <<'END'
volatile int sink;
__attribute__((noinline)) void cold(void)
{
    sink++;
}
static inline __attribute__((always_inline)) void scattered(int n)
{
    sink = n;
    if (__builtin_expect(n == 7, 0)) {
        cold();
        sink = 3;
    }
}
__attribute__((noinline)) int work(int n)
{
    scattered(n);
    sink++;
    return n;
}
__attribute__((used)) void begin(void)
{
    for (int i = 0; i < 9; i++)
        work(i);
    __asm volatile("mov x8, #93\n mov x0, #0\n svc #0");
}
__attribute__((naked)) void _start(void)
{
    __asm volatile("bl begin");
}
END
build() { # OUTPUT SOURCE OPTIONS...
  clang --target=aarch64-linux-gnu -g -nostdlib -static -ffreestanding -fuse-ld=lld -mno-outline-atomics -w -o "$1" "${@:2}" 2>said ||
    { echo "skipped: this clang makes nothing for aarch64"; exit 77; }
}
build whole whole.c -O0 -DROUNDS=4
build many whole.c -O0 -DROUNDS=300
build pieces pieces.c -O2
record() { "$pugmark" record --quiet --protocol etmv4 --times 1 "$@" || exit 1; }
record --out whole.trace -- ./whole
record --out many.trace --loss 20 -- ./many
record --out pieces.trace -- ./pieces

# expect ELF CAPTURE <<"VERDICT RULE", on one thread and on two.
expect() {
  local jobs
  cat >table
  sed -E 's/^[a-z]+ +//' table >rules
  sed -E 's/ .*//' table >want
  for jobs in 1 2; do
    "$pugmark" check --quiet --jobs $jobs --clock 1000000000 --format json --elf "$1" rules "$2" >out.$jobs 2>said
    grep -oE '"verdict": "[a-z]+"' out.$jobs | sed -E 's/.*"([a-z]+)"$/\1/' | paste - want rules |
      awk -F'\t' '$1 != $2 { print "  not " $2 " but " $1 ": " $3; wrong = 1 } END { exit wrong || NR == 0 }' ||
      fail "$2: $(head -n 5 said)"
  done
  cmp out.1 out.2 || fail "$2: two threads say something else"
}
expect whole whole.trace <<'END'
holds     small runs == 5 times
violated  small runs == 4 times
holds     sm*l runs == 5 times
holds     calls_leaf runs == 5 times
holds     outer runs == 1 times
holds     leaf only in calls_leaf
violated  leaf not in calls_leaf
holds     leaf not in small
violated  small only in work
holds     lock only in work
holds     unused never runs
violated  rare never runs
holds     rare runs == 1 times
holds     unlock follows lock
violated  rare follows lock
holds     small within 1us after lock
violated  lock within 1ns after calls_leaf
holds     depth of calls_leaf <= 1
holds     depth of outer <= 1
holds     depth of work <= 1
violated  depth of calls_leaf < 1
holds     calls_leaf takes < 1us
violated  calls_leaf takes < 1ns
END
# How long they take: leaf is all that calls_leaf calls, and small takes longer by as much with each round of its loop.
sums() { "$pugmark" check --quiet --format json --elf whole --rule "$1" whole.trace 2>said |
  sed -nE 's/.*"'"$2"'": ([0-9]+).*/\1/p' | head -n 1; }
all=$(sums 'calls_leaf takes > 0 instructions' total) own=$(sums 'calls_leaf takes > 0 instructions own' total)
called=$(sums 'leaf takes > 0 instructions' total)
[[ $all -gt 0 && $((all - own)) == "$called" ]] || fail "calls_leaf: $all, own $own, leaf $called"
total=$(sums 'small instructions > 0' total) shortest=$(sums 'small instructions > 0' shortest)
longest=$(sums 'small instructions > 0' longest)
[[ $shortest -gt 0 && $longest -gt $shortest && $((11 * (longest - shortest))) == $((5 * (total - 5 * shortest))) ]] ||
  fail "small: $total in all, $shortest to $longest"

# What was lost may have been a call.
expect many many.trace <<'END'
violated  no loss
undecided small runs == 301 times
undecided small runs > 301 times
undecided unused never runs
violated  leaf not in calls_leaf
undecided leaf not in small
undecided small takes < 1s
END

expect pieces pieces.trace <<'END'
violated  scattered never runs
END
for rule in 'scattered takes < 1us' 'scattered runs' 'cold only in scattered'; do
  code=0
  "$pugmark" check --quiet --elf pieces --rule "$rule" pieces.trace >out 2>said || code=$?
  [[ $code == 2 && ! -s out ]] && grep -qE '^--rule:1:(1|14): scattered is inlined at .*pieces.c:[0-9]+, in several pieces: .*build with noinline' said ||
    fail "$rule: exit $code: $(cat said)"
done
"$pugmark" check --quiet --elf whole --rule 'calls_lef runs' whole.trace 2>said
grep -q "did you mean 'calls_leaf'" said || fail "no hint: $(cat said)"
exit $bad
