#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whole machines under QEMU: the path has exceptions and returns, and `pc --verify` compares them. `--limit` ends
# the machine, `--data` works there. A share of tests/truth/machines.sh.
set -eu
bin=$1 source=$2
for tool in qemu-system-arm clang ld.lld; do
  command -v $tool >/dev/null || { echo "there is no $tool here"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
program() { # MACHINE TARGET CPU CODE DATA OPTIONS...
  clang --target="$2" -mcpu="$3" -ffreestanding -O2 "${@:6}" -c -o m.o "$source/tests/truth/machine_m.c"
  ld.lld -static -n --defsym=CODE="$4" --defsym=DATA="$5" -T "$source/tests/truth/machine_m.ld" -e start -o "$1.elf" m.o
}
program an385 armv7m-none-eabi cortex-m3 0 0x20000000
program an505 armv8m.main-none-eabi cortex-m33 0x10000000 0x38000000 -DSECURE -mcmse -mfloat-abi=soft

# The machine never ends by itself; the file is complete nevertheless.
for machine in an385 an505; do
  timeout 60 "$bin/pugmark" record --quiet --limit 150000 --path $machine.path -- \
    qemu-system-arm -M mps2-$machine -nic none -display none -serial none -kernel $machine.elf >said 2>&1 || { cat said; exit 1; }
  [[ $(tail -c1 $machine.path) == Z ]]
done

record() { # MACHINE PROTOCOL OPTIONS...
  "$bin/pugmark" record --quiet --from "$1.path" --protocol "$2" --out out --path ran "${@:3}"
}
equal() {
  "$bin/pugmark" pc out --verify ran >said 2>&1 || { echo "$*:"; cat said; exit 1; }
  grep -Eq '^equal: 1[0-9]{5} instructions of 1 processor, [0-9]{3,} exceptions, [0-9]{3,} returns from them$' said ||
    { echo "$*:"; cat said; exit 1; }
}
for options in '' '--random 1 --sync 300' '--loss 10'; do
  # shellcheck disable=SC2086
  for protocol in etmv3 'etmv4 --set return_stack=0'; do record an385 $protocol $options && equal an385 $protocol $options; done
done
for options in '' '--random 1 --sync 300'; do
  # shellcheck disable=SC2086
  record an505 etmv4 --set return_stack=0 --set speculation=0 $options && equal an505 $options
done

# Two vector tables, of the secure and the non-secure state: an exception's element does not say which state takes it, so a
# name is only said where the tables do not differ; calls show what ran.
record an505 etmv4 --set return_stack=0
"$bin/pugmark" list --quiet --type EXCEPTION --elf an505.elf out >listed
grep -q 'PendSV\] ) on_switch$' listed && ! grep -q 'SysTick\] ) on_systick$' listed || { grep 'SysTick' listed | head -3; exit 1; }
"$bin/pugmark" calls --quiet --summary --elf an505.elf out >called
grep -q '(SysTick)\] on_systick()' called && grep -q '(SysTick)\] ns_on_systick()' called || { grep SysTick called | head; exit 1; }

# The core is QEMU's; no M profile core has a PTM or an ETE.
record an505 etmv4
grep -q 'type=Cortex-M33' out/cpu_0.ini
for protocol in ptm ete; do
  if record an385 $protocol 2>said; then exit 1; fi
  grep -q 'a core of the M profile has no such trace unit' said
done

# What differs is found: an exception by its number or its address, and a return.
record an385 etmv3
cp ran good
cat >change.pl <<'EOF'
# change.pl KIND NEW NUMBER ADDRESS: the first trap of that kind (2 an interrupt, 4 a return) becomes one of the kind
# NEW; NUMBER and ADDRESS are added to its own.
my ($kind, $new, $number, $address) = @ARGV;
my ($bytes, $at, $done) = (do { local $/; <STDIN> }, 8, 0);
sub take {
    my ($value, $shift, $byte) = (0, 0);
    do { $byte = ord substr $bytes, $at++, 1; $value |= ($byte & 127) << $shift; $shift += 7 } while $byte & 128;
    return $value;
}
sub put {
    my ($value, $out) = ($_[0], '');
    do { $out .= chr(($value & 127) | ($value > 127 ? 128 : 0)); $value >>= 7 } while $value;
    return $out;
}
take() for 1 .. 3;
while ($at < length $bytes && !$done) {
    my $record = substr $bytes, $at++, 1;
    take() for 1 .. ($record eq 'B' || $record eq 'E' ? 2 : 0);
    my $length_at = $at;
    my $size = take();
    my ($begin, $end) = ($at, $at + $size);
    while ($record eq 'E' && $at < $end && !$done) {
        my $event_at = $at;
        my $event = take();
        next if ($event & 15) != 7;
        my ($operand, $where) = ($event >> 4, take());
        next if ($operand & 7) != $kind || ($address && !$where);
        $operand += $new - $kind + $number * 8;
        my $chunk = substr($bytes, $begin, $event_at - $begin) . put($operand << 4 | 7) .
            put($where ? $where + $address : 0) . substr($bytes, $at, $end - $at);
        substr($bytes, $length_at, $end - $length_at) = put(length $chunk) . $chunk;
        $done = 1;
    }
    $at = $end;
}
die "no such trap\n" unless $done;
print $bytes;
EOF
different() { # KIND NEW NUMBER ADDRESS MESSAGE
  perl change.pl "${@:1:4}" <good >ran
  if "$bin/pugmark" pc out --verify ran >said 2>&1; then echo "$*: not found"; exit 1; fi
  grep -Eq "$5" said || { echo "$*:"; cat said; exit 1; }
}
different 2 2 1 0 'the trace tells exception [0-9]+( with return address 0x[0-9a-f]+)?, the path has exception [0-9]+'
different 4 1 0 0 'the trace tells a return from an exception, the path has an exception'
record an385 etmv4 --set return_stack=0
cp ran good
different 2 2 0 2 'the trace tells exception .* with return address 0x.*, the path has exception .* with return address 0x'

# A path of version 1 is read, and says what it lacks.
perl -0777 -pe 's/^pugpath\x02(.)\x05/pugpath\x01$1\x01/s' good >ran
"$bin/pugmark" pc out --verify ran >said 2>&1
grep -q 'exceptions and returns from them were NOT compared: a path of version 1 has none' said
grep -q '^equal: ' said

# Accesses to memory.
timeout 60 "$bin/pugmark" record --quiet --data --limit 100000 --path data.path -- \
  qemu-system-arm -M mps2-an385 -nic none -display none -serial none -kernel an385.elf >said 2>&1
"$bin/pugmark" record --quiet --data --set data_form=1 --from data.path --protocol etmv3 --out out --path ran
"$bin/pugmark" pc out --verify ran | grep -Eq ', [0-9]{4,} accesses to memory, [0-9]+ exceptions'

# A small kernel on processors of the A profile and of RISC-V, with contexts, hypervisor and machine mode.
"$source/tests/truth/machines.sh" "$bin" "$work/kernels" 50000 0 a64 t32 rv64 rv32 >said || [[ $? == 77 ]] || { cat said; exit 1; }

# A path that ends with the last instruction of a handler does not have the return, which QEMU shows with the next block.
if command -v qemu-system-riscv64 >/dev/null; then
  timeout 60 "$bin/pugmark" record --quiet --limit 20000 --path handler.path -- qemu-system-riscv64 -M virt -bios none -nic none \
    -display none -serial none -kernel kernels/rv64.elf >said 2>&1 || { cat said; exit 1; }
  "$bin/pugmark" record --quiet --force --from handler.path --protocol etrace --out out
  n=$("$bin/pugmark" list --quiet out | awk '
    /INSTR_RANGE/ { match($0, /num_i\([0-9]+/); ran += substr($0, RSTART + 6, RLENGTH - 6) }
    /EXCEPTION_RET/ && ran > 5000 { print ran; exit }')
  [[ $n -gt 5000 ]]
  "$bin/pugmark" record --quiet --force --limit "$n" --from handler.path --protocol etrace --out out --path ran
  "$bin/pugmark" pc out --verify ran >said 2>&1 || { cat said; exit 1; }
fi

# A Micro Trace Buffer, by what its program has for a vector table: exceptions, nested and tail-chained, and returns.
timeout 60 "$bin/pugmark" record --quiet --limit 30000 --path machine.path -- \
  qemu-system-arm -M mps2-an385 -nic none -display none -serial none -kernel an385.elf >said 2>&1 || { cat said; exit 1; }
"$bin/pugmark" record --quiet --from machine.path --protocol mtb --core Cortex-M33 --force --out mtb --path ran
"$bin/pugmark" pc mtb/trace.bin --protocol mtb --elf an385.elf --verify ran >said 2>&1 || { cat said; exit 1; }
grep -Eq '^equal: [0-9]{5} instructions of 1 processor, [0-9]{2,} exceptions, [0-9]{2,} returns from them$' said
