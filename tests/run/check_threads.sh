#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark check over threads of a kernel: FreeRTOS's symbols and writes, recorded under QEMU.
#   check_threads.sh BIN SOURCE
set -u
pugmark=$(cd "$1" && pwd)/pugmark source=$(cd "$2" && pwd) bad=0
for tool in clang ld.lld qemu-system-arm; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool here"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
clang --target=armv7m-none-eabi -mcpu=cortex-m3 -ffreestanding -O1 -g -finstrument-functions -c -o kernel.o \
  "$source/tests/rtos/kernel_freertos.c" 2>said || { echo "skipped: this clang makes nothing for Arm"; exit 77; }
ld.lld -static -n --defsym=CODE=0 --defsym=DATA=0x20000000 -T "$source/tests/truth/machine_m.ld" -e start -o kernel.elf kernel.o || exit 1
"$pugmark" record --quiet --data --limit 150000 --path path -- qemu-system-arm -M mps2-an385 -nic none -display none \
  -serial none -kernel kernel.elf 2>said || { cat said; exit 1; }
"$pugmark" record --quiet --from path --data --protocol etmv3 --out data || exit 1

cat >table <<'END'
holds     alpha_* only in thread alpha
violated  alpha_* only in thread beta
holds     shared_* instructions < 2000 for each thread
holds     shared_* instructions < 2000 for thread alpha
violated  alpha_* runs for each thread
holds     alpha_* runs for thread alpha
undecided thread nothere share < 5%
violated  thread alpha share > 99%
holds     thread alpha share > 1%
holds     no loss
END
sed -E 's/^[a-z]+ +//' table >rules
sed -E 's/ .*//' table >want
for jobs in 1 2; do
  "$pugmark" check --quiet --jobs $jobs --format json rules --elf kernel.elf data >out 2>said
  grep -oE '"verdict": "[a-z]+"' out | sed -E 's/.*"([a-z]+)"$/\1/' | cmp -s - want ||
    { paste want <(grep -oE '"verdict": "[a-z]+"' out) rules; head -n 5 said; bad=1; }
done
grep -q '"thread": "thread alpha"' out || { echo "no place in a thread"; bad=1; }

# From Python: the same verdicts, and a profile of one thread.
python=$(cd "$1/.." && pwd)/python
if [[ -e $python/pugmark/_core.abi3.so ]]; then
  PYTHONPATH=$python PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 - <<'END' || bad=1
import pugmark
wanted = open("want").read().split()
with pugmark.open("data", elf="kernel.elf") as capture:
    checked = pugmark.check(capture, open("rules").read())
    got = [verdict.verdict for verdict in checked]
    assert got == wanted, (got, wanted)
    assert checked[1].place["thread"] == "thread alpha", checked[1].place
    whole = capture.profile(stacks=True)
    alone = capture.profile(stacks=True, comm="alpha")
    roots = lambda profile: {line.split(";")[0].split(" ")[0] for line in profile.export("folded").decode().splitlines()}
    assert {"alpha_thread", "beta_thread", "gamma_thread"} <= roots(whole), roots(whole)
    assert roots(alone) == {"alpha_thread"}, roots(alone)
END
fi
exit $bad
