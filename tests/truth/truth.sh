#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# truth.sh BIN WORK SCALE SEEDS [SETS...]: record the programs under QEMU, encode what ran in every
# protocol with many choices, decode it, and compare with what ran, instruction by instruction.
# The last line says how many instructions were compared; a difference ends it with status 1.
# Debian's programs are recorded, too, where TRUTH_DEBIAN names the folder that debian.sh has
# filled. Where TRUTH_REPORT names a file, each comparison becomes a line there, and with the same
# build and numbers those that are there already are not done again: what was ended goes on. Its
# last lines add up.
set -u
bin=$1 work=$2 scale=$3 seeds=$4
shift 4
sets=("$@")
[[ ${#sets[@]} -gt 0 ]] || sets=(a64 a32 t32 rv64 rv64i rv32 rv32i)
here=$(dirname "$0")
bad=0
report=${TRUTH_REPORT:-$work/truth.report}
declare -A is_done # what is in the report

emulator() {
  case $1 in
    a64) echo qemu-aarch64 ;;
    a32 | t32) echo qemu-arm ;;
    rv64*) echo qemu-riscv64 ;;
    rv32*) echo qemu-riscv32 ;;
  esac
}

protocols() {
  case $1 in
    a64) echo etmv4 ete ;;
    a32 | t32) echo etmv4 ete etmv3 ptm ;;
    *) echo etrace ntrace ;;
  esac
}

# Lines of the report: instructions, seconds of processor, set, protocol, program, options; and what
# recording a program under QEMU took, as if that were a protocol.
begin_report() {
  local head
  head="# $(cat "$bin/pugmark" "$here"/*.{c,h,S,sh} | cksum) $scale $seeds ${TRUTH_LIMIT:-}"
  [[ -e $report && $(head -1 "$report") == "$head" ]] || echo "$head" >"$report"
  local line
  while IFS= read -r line; do
    line=${line#* }
    is_done[${line#* }]=yes
  done < <(tail -n +2 "$report")
}

# spent: into $spent, the hundredths of seconds that this script's children have had of processors. A
# subshell would tell its own, so this goes by way of a file.
spent() {
  local minutes seconds of
  times >"$work/times"
  { read -r && read -r -a of; } <"$work/times"
  spent=0
  for of in "${of[@]}"; do # as 0m1.234s
    minutes=${of%m*} seconds=${of#*m}
    seconds=${seconds//[.s]/}
    spent=$((spent + minutes * 6000 + 10#$seconds / 10))
  done
}

# add_up: what was compared of each instruction set in each protocol, and the processors' time for it
add_up() {
  awk '!/^#/ { i[$3 " " $4] += $1; s[$3 " " $4] += $2; n[$3 " " $4]++ }
    END { for (k in i) printf "%-6s %-7s %12.0f instructions in %4d recordings, %7.1f seconds\n",
      substr(k, 1, index(k, " ") - 1), substr(k, index(k, " ") + 1), i[k], n[k], s[k] }' "$report" | sort
}

# report_line INSTRUCTIONS BEGAN KEY: what came of it, and the processors' seconds since then
report_line() {
  spent
  printf '%d %d.%02d %s\n' "$1" $(((spent - $2) / 100)) $(((spent - $2) % 100)) "$3" >>"$report"
  is_done[$3]=yes
}

# check SET NAME PATH PROTOCOL OPTIONS...: one encoding and its comparison
check() {
  local key="$1 $4 $2 ${*:5}" name=$2 path=$3 protocol=$4 said wanted=equal verify=() began
  shift 4
  [[ ! ${is_done[$key]:-} ]] || return 0
  [[ " $* " == *" --snapshot-mode "* ]] && verify=(--tail)
  [[ " $* " != *" --data "* ]] || wanted=$'equal[^\n]*accesses to memory'
  : >"$work/out.path" # what was there before is equal to nothing
  spent
  began=$spent
  if said=$("$bin/pugmark" record --quiet --from "$path" --protocol "$protocol" \
    --out "$work/out" --path "$work/out.path" "$@" 2>&1) &&
    said=$("$bin/pugmark" pc "$work/out" --verify "$work/out.path" "${verify[@]}" 2>&1) &&
    [[ $said =~ $wanted && $said =~ (^|$'\n')equal:\ ([0-9]+)\  ]]; then
    report_line "${BASH_REMATCH[2]}" "$began" "$key"
    return
  fi
  bad=$((bad + 1))
  echo "FAILED $name --protocol $protocol $*"
  sed 's/^/    /' <<<"$said" | head -6
  [[ ${TRUTH_STOP:-} ]] && exit 1
}

# each_choice SET NAME PATH PROTOCOL [LIMIT]: what every program is encoded with
each_choice() {
  local seed limit=()
  [[ ! ${5:-} ]] || limit=(--limit "$5")
  check "${@:1:4}" "${limit[@]}"
  check "${@:1:4}" --calls on "${limit[@]}"
  [[ $2 == writes* ]] || check "${@:1:4}" --loss 20 "${limit[@]}"
  for ((seed = 1; seed <= seeds; seed++)); do
    check "${@:1:4}" --random "$seed" --calls silent --sync $((seed * 300)) "${limit[@]}"
    check "${@:1:4}" --random $((seed + 1000)) --calls on --loss 10 "${limit[@]}"
  done
}

# run NAME PATH OPTIONS...: the path of a program
run() {
  local name=$1 path=$2
  shift 2
  spent
  local began=$spent
  "$bin/pugmark" record --quiet --path "$path" "$@" >"$work/said" 2>&1 && report_line 0 "$began" "${name##*.} record ${name%.*}" && return
  echo "FAILED $name: $(cat "$work/said")"
  bad=$((bad + 1))
  return 1
}

own_programs() {
  local set=$1 name protocol path
  for name in plain mixture writes branches accesses; do
    path=$work/$name.$set.path
    run "$name.$set" "$path" -- "$work/programs/$name.$set" "$scale" || continue
    for protocol in $(protocols "$set"); do
      each_choice "$set" "$name.$set" "$path" "$protocol"
      # Returns separated by depth, from functions that call themselves.
      [[ $protocol != etrace ]] || check "$set" "$name.$set" "$path" "$protocol" --set irets=0 --set sijump=0 --set resync=200
      [[ $name == plain ]] || continue
      check "$set" "$name.$set" "$path" "$protocol" --snapshot-mode --buffer 16384
      check "$set" "$name.$set" "$path" "$protocol" --filter fibonacci --filter op_gcd --filter 0-16
      check "$set" "$name.$set" "$path" "$protocol" --buffer 3000
    done
    rm -f "$path"
  done
}

# Accesses to memory, where the protocol has data trace.
with_data() {
  local set=$1 name protocol path=$work/data.$1.path seed form
  case $set in
    a64) return ;;
    a32 | t32) protocol=etmv3 ;;
    *) protocol=etrace ;;
  esac
  for name in accesses mixture; do
    run "$name.$set" "$path" --data -- "$work/programs/$name.$set" $((scale / 10 + 1)) || continue
    check "$set" "$name.$set" "$path" "$protocol" --data
    check "$set" "$name.$set" "$path" "$protocol" --data --calls on --loss 20
    for form in 0 1 2; do
      for ((seed = 1; seed <= 2 * seeds; seed++)); do
        check "$set" "$name.$set" "$path" "$protocol" --data --random "$seed" --set data_form=$form
      done
    done
    rm -f "$path"
  done
}

# Debian's programs, which debian.sh has put below $TRUTH_DEBIAN: dynamically linked, position-independent,
# with signals, children that are followed, and a compiler that writes code.
debian_programs() {
  local set=$1 root=$TRUTH_DEBIAN/$1 work_of=$here/debian program name child number protocol path arguments
  for program in "$root"/usr/bin/{bash,busybox,perl,python3.??,sqlite3,luajit*} "$root"/bin/{bash,busybox}; do
    [[ -x $program ]] || continue
    name=$(basename "$program") path=$work/debian.$set.path
    case $name in
      bash) arguments=("$work_of/work.sh") ;;
      busybox) arguments=(awk 'BEGIN { for (i = 0; i < 2000; i++) s = (s * 31 + i) % 977; print s }') ;;
      perl) arguments=("$work_of/work.pl") ;;
      python*) arguments=("$work_of/work.py") ;;
      sqlite3) arguments=(:memory: ".read $work_of/work.sql") ;;
      luajit*) arguments=("$work_of/work.lua") ;;
    esac
    run "$name.$set" "$path" --sysroot "$root" --children "$work/child" -- "$program" "${arguments[@]}" || continue
    for protocol in $(protocols "$set"); do
      each_choice "$set" "$name.$set" "$path" "$protocol" "${TRUTH_LIMIT:-}"
      number=0
      for child in "$work"/child.*; do
        [[ ! -e $child ]] || check "$set" "$name.$set's child $((number++))" "$child" "$protocol" --limit 1000000
      done
    done
    rm -f "$path" "$work"/child.*
  done
}

programs=()
for set in "${sets[@]}"; do programs+=({plain,mixture,writes,branches,accesses}."$set"); done
"$here/build.sh" "$work/programs" "${programs[@]}" || exit $?
begin_report
for set in "${sets[@]}"; do
  if ! command -v "$(emulator "$set")" >/dev/null; then
    echo "no $(emulator "$set"): $set is left out"
    continue
  fi
  own_programs "$set"
  with_data "$set"
  [[ ! -e ${TRUTH_DEBIAN:-}/$set/complete ]] || debian_programs "$set"
done
rm -rf "$work/out" "$work/out.path"
add_up
awk -v bad=$bad '!/^#/ { seconds += $2 }
  !/^#/ && $4 != "record" { all += $1; n++ }
  END { printf "%.1f seconds of processors\n%.0f instructions compared in %d recordings, %d failed\n", seconds, all, n, bad
    exit n || bad ? 0 : 77 }' "$report" || exit
[[ $bad -eq 0 ]]
