# SPDX-License-Identifier: MIT
# What ran on a kernel of this folder, from `pugmark list` of its data trace and from the variables that the kernel writes for
# that: awk -v running=0x… -v ready=0x… -v entered=0x… -v left=0x… -v current=0x… -f truth.awk. Nothing of src/rtos is used.
# Lines: "wait NAME TIMES INSTRUCTIONS", "share NAME INSTRUCTIONS", "switch NAME" in order, "stack NAME enter|leave ADDRESS" in order.
function hex(text, n, i) {
  n = 0
  for (i = 3; i <= length(text); i++)
    n = n * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
  return n
}
function run_thread() {
  if (thread != told)
    print "switch " names[thread]
  if (thread in since) {
    waited[thread] += all - since[thread]
    times[thread]++
    delete since[thread]
  }
  told = thread
}
BEGIN {
  split("alpha beta gamma idle", list, " ")
  names[0] = "begin"
  for (i = 1; i <= 4; i++)
    names[i] = list[i]
  thread = coming = told = depth = 0
  waits = -1
}
/EXCEPTION_RET/ { returned = 1; next }
/EXCEPTION\(/ {
  if (returned)
    depth--
  if (returned && depth == 0 && /pref ret addr/)
    thread = coming # it did return, and was interrupted there
  returned = 0
  depth++
  next
}
/INSTR_RANGE/ {
  if (returned) {
    depth--
    returned = 0
    if (depth == 0)
      thread = coming
  }
  match($0, /num_i\([0-9]+/)
  count = substr($0, RSTART + 6, RLENGTH - 6) + 0
  if (depth == 0 && !(waits > 0))
    run_thread()
  all += count
  if (waits > 0 && depth <= waits)
    share["none"] += count
  else if (depth > 0)
    share["interrupts"] += count
  else {
    share[names[thread]] += count
  }
  next
}
/DATA_VALUE\(store/ {
  match($0, /addr=0x[0-9a-f]+/)
  address = substr($0, RSTART + 5, RLENGTH - 5)
  match($0, /value=0x[0-9a-f]+/)
  value = substr($0, RSTART + 6, RLENGTH - 6)
  if (address == current && depth > 0)
    waits = hex(value) == 0 ? depth : -1
  if (address == ready && !(hex(value) in since) && hex(value) != told)
    since[hex(value)] = all
  if (address == running && hex(value) > 0)
    coming = hex(value)
  if ((address == entered || address == left) && depth == 0)
    print "stack " names[thread] (address == entered ? " enter " : " leave ") value
}
END {
  for (thread in times)
    print "wait " names[thread] " " times[thread] " " waited[thread]
  for (name in share)
    print "share " name " " share[name]
}
