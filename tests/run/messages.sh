#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every message has an entry that `pugmark explain` shows: its cause and what to do next.
#   messages.sh BIN SOURCE
set -eu
pugmark=$1/pugmark source=$2 bad=0
wrong() { echo "$*"; bad=1; }
cd "$source"

# One way to a message: message_say(), which escapes names of inputs. Progress is drawn, and is no message.
others=$(grep -rlE 'f(printf|puts|putc|write)\(.*stderr' tools/pugmark --include='*.c' |
  grep -vE '/(progress|path_progress|messages)\.c$' || true)
[[ -z $others ]] || wrong "not by message_say(): $others"

# Codes: each once, with a cause and a remedy.
codes=$("$pugmark" explain | sed -n 's/^  \([a-z0-9-]\{1,\}\)\( .*\)\{0,1\}$/\1/p')
[[ $(wc -l <<<"$codes") -gt 80 ]] || wrong "only $(wc -l <<<"$codes") codes"
twice=$(sort <<<"$codes" | uniq -d)
[[ -z $twice ]] || wrong "twice: $twice"
for code in $codes; do
  text=$("$pugmark" explain "$code")
  [[ $(head -1 <<<"$text") == "$code" ]] && grep -qE '^  cause     [^ ]' <<<"$text" &&
    grep -qE '^  remedy    [^ ]' <<<"$text" && [[ $text == *. ]] ||
    wrong "$code: no cause or no remedy: $text"
done

# Formats of the source: all that have words of their own.
tried=0
while IFS=$'\t' read -r file format; do
  words=${format#pugmark: } words=${words#warning: } words=${words//[^A-Za-z]/}
  [[ ${#words} -ge 14 ]] || continue # pieces of a line, and lines that are all of others
  [[ $format != snapshot_* && $format != *"more: pugmark explain"* ]] || continue # names of parts; what names an entry
  tried=$((tried + 1))
  "$pugmark" explain --match -- "$format" >/dev/null 2>&1 || wrong "$file: nothing explains '$format'"
done < <({
  perl tests/support/message_formats.pl message_say tools/pugmark/*/*.c tools/pugmark/*.c | grep -P '\tpugmark: '
  perl tests/support/message_formats.pl said,refuse tools/pugmark/*/*.c
  perl tests/support/message_formats.pl pug_capture_say,pug_snapshot_say,pug_perf_say src/*/*.c
} | sort -u)
((bad == 0)) || echo "Entries stand in tools/pugmark/help/explanations_*.c: give the message a pattern, in an entry that fits or a new one."
[[ $tried -gt 200 ]] || wrong "only $tried formats were found"
# A sentence of each kind of finding, which the test of findings prints.
findings=0
while IFS= read -r sentence; do
  findings=$((findings + 1))
  "$pugmark" explain --match -- "$sentence" >/dev/null 2>&1 || wrong "nothing explains the finding '$sentence'"
done < <(if [[ -x $1/../tests/test_findings ]]; then "$1/../tests/test_findings" sentences; fi)
[[ ! -x $1/../tests/test_findings || $findings -gt 30 ]] || wrong "only $findings findings"
# What a library's log says begins with its status.
while IFS= read -r text; do
  "$pugmark" explain --match "error: source 0x10, offset 5: $text: words" >/dev/null 2>&1 || wrong "nothing explains status '$text'"
done < <(sed -nE 's/^    \{PUG_ERR_[A-Z_]+, "([^"]*)".*/\1/p' src/log/status.c)
"$pugmark" explain no-such-code >/dev/null 2>&1 && wrong "a code that is none was explained"
[[ $("$pugmark" explain emty-trace 2>&1) == *"is empty-trace meant?" ]] || wrong "no near code"

# On a terminal a message is followed by the command that explains it; elsewhere it is not.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/empty"
more="more: pugmark explain empty-trace"
"$pugmark" info --protocol itm "$work/empty" 2>&1 | grep -q "$more" && wrong "said to no terminal"
if command -v script >/dev/null && [[ $(uname) == Linux ]]; then
  said=$(script -qec "'$pugmark' info --protocol itm '$work/empty' >/dev/null" /dev/null </dev/null || true)
  [[ $said == *"$more"* ]] || wrong "not said on a terminal: $said"
fi
exit $bad
