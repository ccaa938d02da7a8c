#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Completion: what `pugmark complete` answers, and bash, zsh and fish that ask it.
#   completions.sh BIN SOURCE
set -eu
bin=$(readlink -f "$1") source=$(readlink -f "$2") bad=0
export PATH=$bin:$PATH
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cp -r "$source/examples" "$work"
cd "$work"
wrong() { echo "$*"; bad=1; }
has_elf() { pugmark --version | head -n 1 | grep -q '[( ]elf '; }
# has CANDIDATES WORD...: the last word can be each of these, separated by blanks
has() {
  local wanted=$1 found
  shift
  found=$(pugmark complete -- "$@" 2>/dev/null | cut -f1)
  for word in $wanted; do grep -qxF -- "$word" <<<"$found" || wrong "[$*]: no $word in: $(tr '\n' ' ' <<<"$found")"; done
}
has "trace" tra
has "info list record help explain" ""
has "--help --version --list-cores" --
has "--last --before --format --elf --help-all" trace --
has "text jsonl" trace --format ""
has "--format=text --format=jsonl" trace --format=
has "auto always never" trace --color ""
has "etmv4i e-trace itm" list --protocol ""
has "coresight encapsulation" list --transport ""
has "Cortex-M33 Cortex-M55" list --core Cortex-M
has ":file" info ""
has ":file" info --elf ""
has ":dir" report --symfs ""
has "pprof autofdo folded brstack" profile --format ""
has "EXCEPTION INSTR_RANGE" list --type ""
has "--reference=1.8.0" list --reference=
has "0x10" list examples/demo --source ""
has "ETB_0" list examples/demo --buffer ""
has "TRCCONFIGR= TRCIDR0=" list examples/demo --set TRC
has "TRCCONFIGR=" list --protocol etmv4 --set TRCC
has "xlen= iaddress_width_p=" list --protocol etrace --set ""
has "openocd" top open
has "trace" help tra
has "empty-trace" explain emp
has_elf && has "on_fault exception event" trace examples/crash --before ""
has_elf && has "on_fault" trace --elf examples/crash/crash examples/crash --before on
[[ -z $(pugmark complete -- list --jobs "") ]] || wrong "values of a number"
[[ -z $(pugmark complete -- nothing --x) ]] || wrong "options of no command"
# Each option of each command can be completed, and all that takes values of a fixed list has some.
for command in $(pugmark help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'); do
  options=$(pugmark "$command" --help-all | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | tr '\n' ' ')
  has "$options" "$command" --
done
# Tasks of a perf.data.
if [[ -f $source/../shared/perfdata/paw/perf.data ]]; then
  has "$(pugmark info "$source/../shared/perfdata/paw/perf.data" 2>/dev/null | sed -n 's/^ *thread \([0-9]*\) .*/\1/p' | head -1)" list "$source/../shared/perfdata/paw/perf.data" --tid ""
fi

# bash: as its readline cuts the words.
bash_has() {
  local wanted=$1
  shift
  # shellcheck disable=SC2016
  found=$(bash --norc -c 'source "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _pugmark; printf "%s\n" "${COMPREPLY[@]}"' _ \
    "$source/completions/pugmark.bash" "$@")
  [[ " $(tr '\n' ' ' <<<"$found")" == *" $wanted "* ]] || wrong "bash [$*]: no $wanted in: $found"
}
bash_has trace pugmark tra
bash_has text pugmark trace --format = t
bash_has examples pugmark info exam
bash_has examples/demo pugmark trace --symfs examples/d
bash_has 0x10 pugmark list examples/demo --source ""
if has_elf; then bash_has on_fault pugmark trace examples/crash --before on_; fi
# zsh: on a terminal of its own, where Tab is pressed.
if command -v zsh >/dev/null; then
  cat >keys <<'LINES'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "PS1='> '; TERM=dumb; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; echo be\gun"
until [[ $out == *begun* ]]; do zpty -r z line || break; out+=$line; done
zpty -w -n z $'pugmark tra\t\n'
zpty -w -n z $'echo list examples/demo --source=1; pugmark list examples/demo --buffer ET\t --type TIMESTAMP --quiet\n'
zpty -w -n z $'echo do\\ne\n'
out=
until [[ $out == *$'\n'done* ]]; do zpty -r z line || break; out+=$line; done
print -r -- $out
LINES
  # shellcheck disable=SC2034
  said=$(timeout 20 zsh -f keys "$source/completions" 2>&1 | tr -d '\r\b' || true)
  [[ $said == *"for example: pugmark trace "* ]] || wrong "zsh: no command: $said"
  [[ $said == *"--buffer ETB_0"* && $said == *TIMESTAMP* ]] || wrong "zsh: no buffer: $said"
else
  echo "zsh is not there: not tried"
fi
# fish, which says itself what it would offer.
if command -v fish >/dev/null; then
  fish_has() {
    found=$(HOME=$work fish -c "source $source/completions/pugmark.fish; complete -C '$2'" 2>&1 | cut -f1)
    grep -qxF -- "$1" <<<"$found" || wrong "fish [$2]: no $1 in: $found"
  }
  fish_has trace "pugmark tra"
  fish_has --format=text "pugmark trace --format="
  fish_has examples/ "pugmark info exam"
  fish_has 0x10 "pugmark list examples/demo --source "
  if has_elf; then fish_has on_fault "pugmark trace examples/crash --before on_"; fi
else
  echo "fish is not there: not tried"
fi
exit $bad
