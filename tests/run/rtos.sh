#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Three small kernels with the symbols, types, members and order of writes of FreeRTOS, ThreadX and RTX5, recorded under
# QEMU: threads, their names, shares, switches and call stacks are those that ran, by data trace and by program flow alone.
#   rtos.sh BIN SOURCE
set -eu
pugmark=$1/pugmark source=$2
command -v clang >/dev/null && command -v ld.lld >/dev/null && command -v qemu-system-arm >/dev/null ||
  { echo "skipped: there is no clang, no lld or no qemu-system-arm here"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
wrong() { echo "$kernel, $how: $*"; exit 1; }
symbol() { llvm-nm "$kernel.elf" | awk -v name="$1" '$3 == name {print "0x" $1}' | sed 's/^0x0*\(.\)/0x\1/'; }
command -v llvm-nm >/dev/null || llvm-nm() { "$(ls /usr/lib/llvm-*/bin/llvm-nm | head -1)" "$@"; }

for kernel in freertos threadx rtx5; do
  how=build
  clang --target=armv7m-none-eabi -mcpu=cortex-m3 -ffreestanding -O1 -g -finstrument-functions -Wall -Werror -c -o "$kernel.o" \
    "$source/tests/rtos/kernel_$kernel.c" 2>said || { echo "skipped: this clang makes nothing for Arm"; exit 77; }
  ld.lld -static -n --defsym=CODE=0 --defsym=DATA=0x20000000 -T "$source/tests/truth/machine_m.ld" -e start \
    -o "$kernel.elf" "$kernel.o"
  "$pugmark" record --quiet --data --limit 160000 --path path -- qemu-system-arm -M mps2-an385 -nic none -display none \
    -serial none -kernel "$kernel.elf" 2>said || { cat said; exit 1; }
  "$pugmark" record --quiet --force --from path --data --protocol etmv3 --out data
  "$pugmark" record --quiet --force --from path --protocol etmv4 --out flow

  current=- # 0 is no thread of FreeRTOS and RTX5 once one runs
  [[ $kernel != threadx ]] || current=$(symbol _tx_thread_current_ptr)
  "$pugmark" list --quiet data | awk -v running="$(symbol truth_running)" -v entered="$(symbol truth_entered)" \
    -v left="$(symbol truth_left)" -v current="$current" -f "$source/tests/rtos/truth.awk" >truth
  for name in alpha beta gamma; do grep -q "^share $name [1-9]" truth || wrong "the truth has no $name"; done
  [[ $(grep -c '^switch' truth) -gt 100 ]] || wrong "too few switches: $(grep -c '^switch' truth)"

  # Names as each kernel's control blocks tell them; by flow alone a thread is called by its function.
  case $kernel in
    freertos) named='s/^IDLE$/idle/' ;;
    threadx) named='s/^\[no thread\]$/none/' ;;
    rtx5) named='s/^beta_block$/beta/; s/^gamma_block$/gamma/; s/^pool\[0\]$/idle/' ;;
  esac
  named+='; s/^\[interrupts\]$/interrupts/; s/^(start)$/begin/; s/^$/begin/'
  named+='; s/^(\(.*\)_thread)$/\1/; s/^(prvIdleTask)$/idle/; s/^(osRtxIdleThread)$/idle/'
  for how in data flow; do
    # ThreadX waits inside of PendSV, which flow alone takes for the handler.
    awk -v flow=$([[ $how == flow ]] && echo 1) '$1 == "share" {
        name = flow && $2 == "none" ? "interrupts" : $2; sum[name] += $3}
      END {for (name in sum) print name, sum[name]}' truth | sort >want
    "$pugmark" threads --quiet --format csv --elf "$kernel.elf" $how | sed 1d |
      sed -E 's/^[0-9]+,"([^"]*)",[a-z]+,[^,]*,[^,]*,([0-9]+),.*/\1 \2/' >said
    while read -r line; do echo "$(sed "$named" <<<"${line% *}") ${line##* }"; done <said | sort >got
    # Where a few instructions of a thread fit several, flow alone cannot say whose they are: "?", which is little.
    unknown=$(awk '$1 == "?" {print $2}' got)
    if [[ $how == flow && -n $unknown ]]; then
      awk 'NR == FNR {want[$1] = $2; all += $2; next}
        {sum += $2; if ($1 != "?" && $2 > want[$1]) exit 1; if ($1 == "?" && $2 * 100 > all) exit 1}
        END {exit sum != all}' want got || { diff want got; wrong "not these shares"; }
      continue
    fi
    diff want got || wrong "not these shares"

    awk '$1 == "switch" {print $2}' truth >want
    "$pugmark" threads --quiet --switches --format csv --elf "$kernel.elf" $how | sed -E 's/.*,"([^"]*)"$/\1/' |
      sed "$named" >got
    { [[ $(head -1 want) == begin ]] || echo begin; cat want; } | cmp - got ||
      wrong "not these switches: $(diff want got | head -5)"

    # A profile has stacks for each thread: without handlers their instructions are the thread's share.
    "$pugmark" profile --quiet --format folded --elf "$kernel.elf" $how >folded
    awk '!/Handler/ {split($0, frames, /[; ]/); sub(/_thread$/, "", frames[1]); sum[frames[1]] += $NF}
      END {for (name in sum) if (name ~ /^(alpha|beta|gamma)$/) print name, sum[name]}' folded | sort >got
    awk '$1 == "share" && $2 ~ /^(alpha|beta|gamma)$/ {sum[$2] += $3} END {for (name in sum) print name, sum[name]}' truth |
      sort >want
    diff want got || wrong "not these stacks in a profile"

    # Each thread's calls and returns, of the functions that say so themselves.
    "$pugmark" calls --quiet --elf "$kernel.elf" $how >calls
    for name in alpha beta gamma; do
      awk -v name=$name '$1 == "stack" && $2 == name {print $3, $4}' truth |
        while read -r what address; do echo "$what $((address & ~1))"; done >want
      "$pugmark" calls --quiet --comm "$(awk -F'"' -v name=$name '{print $2}' <("$pugmark" threads --quiet --format csv \
        --elf "$kernel.elf" $how) | while read -r one; do [[ $(sed "$named" <<<"$one") != "$name" ]] || echo "$one"; done)" \
        --elf "$kernel.elf" $how >calls
      llvm-nm "$kernel.elf" | awk '$3 ~ /^(shared|alpha|beta|gamma)_/ && $2 ~ /^[tT]$/ {print $3, $1}' |
        while read -r function address; do echo "$function $((0x$address & ~1))"; done >functions
      # A line is a call, its begin or its end; ends have no names: a stack finds them.
      awk 'NR == FNR {at[$1] = $2; next}
        /\{($|  \/\*)/ {match($0, /[A-Za-z_0-9]+\(\) \{/); f = substr($0, RSTART, RLENGTH - 4); open[++n] = f
                if (f in at) print "enter", at[f]; next}
        /\(\);/ {match($0, /[A-Za-z_0-9]+\(\);/); f = substr($0, RSTART, RLENGTH - 3)
                 if (f in at) {print "enter", at[f]; print "leave", at[f]}; next}
        /\}( |$)/ {f = open[n--]; if (f in at && !/the trace ends/) print "leave", at[f]}' functions calls >got
      # The trace may end within an entry or a return.
      [[ $(wc -l <want) -gt 200 ]] || wrong "the truth has too few calls of $name"
      head -n $(($(wc -l <want) - 8)) want >most
      head -n "$(wc -l <most)" got | cmp most - || wrong "not the calls of $name: $(diff most got | head -5)"
    done
  done
done

# Who is chosen by --tid and --comm is alone in the answer.
kernel=rtx5 how=data
"$pugmark" calls --quiet --comm alpha --elf rtx5.elf data | grep -q ' alpha ' || wrong "alpha is not chosen"
if "$pugmark" calls --quiet --comm alpha --elf rtx5.elf data | grep -E '^ +(beta|gamma)_block '; then wrong "others are"; fi
tid=$("$pugmark" threads --quiet --format csv --elf rtx5.elf data | awk -F, '$2 == "\"beta_block\"" {print $4}')
"$pugmark" calls --quiet --tid "$tid" --elf rtx5.elf data | grep -q '^ *beta_block ' || wrong "no thread $tid"
"$pugmark" profile --quiet --format folded --comm alpha --elf rtx5.elf data >folded
grep -q '^alpha_thread' folded && ! grep -qE '^(beta|gamma)_thread' folded || wrong "a profile of alpha has others"
"$pugmark" profile --quiet --times --csv --comm alpha --elf rtx5.elf data >table
grep -q '^"alpha_step"' table && ! grep -q '^"beta_' table || wrong "times of alpha have others'"
if "$pugmark" profile --comm nobody --elf rtx5.elf data >/dev/null 2>said; then wrong "nobody ran"; fi
"$pugmark" diff --quiet --comm alpha --elf rtx5.elf data data | grep -q 'all are as before' || wrong "alpha differs from itself"
"$pugmark" report --quiet --elf rtx5.elf --output page.html data
bash "$source/tests/report/unpack.sh" page.html timelines >tracks
for name in alpha beta_block gamma_block; do grep -q "\"name\": \"$name [0-9]*\", \"task\": true" tracks || wrong "the report has no track of $name"; done
"$pugmark" timeline --quiet --format chrome --elf rtx5.elf data | grep -q '"gamma_block"' || wrong "no track of gamma"

# A watchpoint of a DWT alone: shares are of time, and a control block in a heap has no name there.
kernel=freertos how=swo
pointer=$(symbol pxCurrentTCB) heap=$(symbol ucHeap)
write() { printf 'exception 14 entered\ndata 0 address=%s value=%#x written\nat %d\nexception 0 returned\n' "$pointer" "$1" "$2"; }
{ write $((heap + 8)) 100; echo 'at 120'; write $((heap + 104)) 1100; echo 'at 1120'; write $((heap + 8)) 3100; echo 'at 3120'
  printf 'exception 15 entered\nat 3500\nexception 0 returned\nat 4000\n'; } >events
"$pugmark" record --quiet --force --protocol itm --out swo --script events
"$pugmark" threads --quiet --format csv --elf freertos.elf swo | awk -F, '{print $2, $7, $8}' >got
printf '"task %#x" 1980 1\n"task %#x" 1360 2\n"[interrupts]" 560 0\n' $((heap + 104)) $((heap + 8)) >want
sed 1d got | diff want - || wrong "not these shares of time"

# Such a timeline has a track for each thread: from the return of the exception that switched to it on.
"$pugmark" timeline --quiet --format chrome --elf freertos.elf swo >tracks
for value in $((heap + 104)) $((heap + 8)); do
  tid=$(sed -nE 's/.*"thread_name".*"tid": ([0-9]+).*"name": "source 0x10: thread '"$(printf 'task %#x' "$value")"'".*/\1/p' tracks)
  [[ -n $tid ]] || wrong "no track of $(printf '%#x' "$value")"
  sed -nE 's/.*"ph": "([BE])".*"tid": '"$tid"',? ?.*"ts": ([0-9]+).*/\1 \2/p' tracks | paste -sd' '
done >got
printf 'B 1120 E 3120\nB 120 E 1120 B 3120 E 4000\n' | diff - got || wrong "not these tracks"

# A description of one's own, and what is wrong with one.
sed 's/RTX5/Mine/; s/osRtxThread_t/no_such_type/' "$source/share/rtos/rtx5.rtos" >mine.rtos
"$pugmark" threads --rtos mine.rtos --elf rtx5.elf data 2>&1 >/dev/null | grep -q 'threads of Mine' || wrong "not mine"
printf 'kernel Bad\n  if a\n  curent b\n' >bad.rtos
if "$pugmark" threads --rtos bad.rtos --elf rtx5.elf data >said 2>&1; then wrong "a wrong description is taken"; fi
grep -q '^bad.rtos:3:3: expected kernel, if' said || { cat said; exit 1; }
if "$pugmark" threads data >said 2>&1; then wrong "there is no kernel without a program"; fi
grep -q 'give the firmware' said
