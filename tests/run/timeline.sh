#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pugmark timeline: its slices are the calls of `pugmark calls`, with their times, in each format, as other programs read them.
set -u
pugmark=$1/pugmark source=$2 demo=$2/examples/demo bad=0
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
fail() { echo "$*"; bad=1; }

# What calls says: depth, function, time of each call, in order. Times before the first timestamp are not printed there.
"$pugmark" calls "$demo" >"$work/calls" || fail "calls: exit $?"
grep -oE '\[[0-9a-f]+\]\(\)' "$work/calls" | sed 's/()//' >"$work/functions"
awk '/\(\)/ { print $2 ~ /^[0-9]+$/ ? $2 : "" }' "$work/calls" >"$work/times"

# "B NAME TIME", "E TIME" lines of a Chrome file.
slices() {
    sed -nE 's/.*"ph": "B", "name": "([^"]*)".*"ts": ([0-9.]+).*/B \1 \2/p; s/.*"ph": "E".*"ts": ([0-9.]+).*/E \1/p' "$1"
}
"$pugmark" timeline --exact --quiet --format chrome --output "$work/chrome" "$demo" || fail "chrome: exit $?"
slices "$work/chrome" >"$work/slices"
[[ -s $work/functions ]] || fail "calls has no calls"
sed -n 's/^B \([^ ]*\) .*/\1/p' "$work/slices" | cmp -s - "$work/functions" || fail "the slices are not the calls"
sed -n 's/^B [^ ]* //p' "$work/slices" >"$work/begins"
paste -d ' ' "$work/times" "$work/begins" | awk 'NF == 2 && $1 != $2 { exit 1 }' || fail "the slices have other times than the calls"
awk '/^B/ { depth++ } /^E/ { if (--depth < 0) exit 1 } END { exit depth != 0 }' "$work/slices" || fail "slices do not nest"
awk '{ if ($NF + 0 < last) exit 1; last = $NF + 0 }' "$work/slices" || fail "times go back"
if python3 -c "import json.tool" 2>/dev/null; then
    python3 -m json.tool "$work/chrome" >/dev/null || fail "chrome: not JSON"
fi

# Estimated times lie between the exact ones, and are marked.
"$pugmark" timeline --quiet --format chrome "$demo" >"$work/estimated"
slices "$work/estimated" >"$work/between"
grep -c . "$work/between" | cmp -s - <(grep -c . "$work/slices") || fail "estimating changes which slices there are"
grep -q '"estimated": true' "$work/estimated" || fail "nothing is marked as estimated"
grep -q '"estimated": true' "$work/chrome" && fail "--exact estimates"

# Every format has the same slices.
if command -v protoc >/dev/null; then
    "$pugmark" timeline --exact --quiet --output "$work/perfetto" "$demo" || fail "perfetto: exit $?"
    protoc -I"$source/tests/timeline" --decode=Trace perfetto.proto <"$work/perfetto" >"$work/text" || fail "perfetto: cannot be decoded"
    grep -qE '^ *[0-9]+:' "$work/text" && fail "perfetto: fields that the messages do not have"
    awk '/^  timestamp:/ { time = $2 }
         / event_names \{/ { getline; iid = $2; getline; gsub(/"/, "", $2); names[iid] = $2 }
         /^    type: BEGIN/ { type = "B" } /^    type: END/ { type = "E" } /^    type: INSTANT/ { type = "" }
         /^    name_iid:/ { name = $2 }
         /^\}/ { if (type == "B") print "B", names[name], time; if (type == "E") print "E", time; type = "" }' "$work/text" |
        cmp -s - "$work/slices" || fail "perfetto: other slices"
else
    echo "skipped: perfetto needs protoc"
fi
if command -v babeltrace2 >/dev/null; then
    "$pugmark" timeline --exact --quiet --format ctf --output "$work/ctf" "$demo" || fail "ctf: exit $?"
    babeltrace2 --clock-cycles "$work/ctf" 2>"$work/said" |
        sed -nE 's/^\[0*([0-9]+)\].* enter: .*function = "([^"]*)".*/B \2 \1/p; s/^\[0*([0-9]+)\].* leave: .*/E \1/p' |
        cmp -s - "$work/slices" || fail "ctf: other slices ($(head -n 1 "$work/said"))"
    "$pugmark" timeline --quiet --format ctf --output "$work/ctf" "$demo" 2>"$work/said"
    [[ $? -eq 3 ]] && grep -q 'File exists' "$work/said" || fail "ctf: a folder that is there was written into"
else
    echo "skipped: ctf needs babeltrace2"
fi
"$pugmark" timeline --exact --quiet --format speedscope "$demo" >"$work/speedscope" || fail "speedscope: exit $?"
grep -oE '"type": "[OC]", "frame": [0-9]+, "at": [0-9]+' "$work/speedscope" | sed -E 's/.*"([OC])".*at": /\1 /; s/^O/B/; s/^C/E/' |
    cmp -s - <(sed -E 's/^B [^ ]* /B /' "$work/slices") || fail "speedscope: other slices"

# What speedscope itself makes of it, in a browser.
app=${NODE_PATH:-$(npm root -g 2>/dev/null)}/speedscope/dist/release
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [[ -e $app/index.html && -n $browser ]] && command -v node >/dev/null; then
    mapfile -t names < <(sed -n 's/^B \([^ ]*\) .*/\1/p' "$work/slices" | sort -u)
    node "$source/tests/report/speedscope.mjs" "$browser" "$app" "$work/speedscope" "${names[@]}" || fail "speedscope does not show the calls"
else
    echo "skipped: speedscope's own reading needs node, chromium, and npm's speedscope in NODE_PATH"
fi

# Other clocks; short calls left out; any number of threads.
"$pugmark" timeline --clock instructions --quiet --format chrome "$demo" | grep -q '"unit": "instructions"' || fail "--clock instructions"
"$pugmark" timeline --clock instructions --least 10 --format chrome "$demo" >"$work/least" 2>"$work/said"
grep -q 'others left out' "$work/said" || fail "--least says nothing"
slices "$work/least" | awk '/^B/ { at[++depth] = $3 } /^E/ { if ($2 - at[depth--] < 10) exit 1 }' || fail "--least: a short call is there"
"$pugmark" timeline --exact --quiet --depth 1 --format chrome "$demo" >"$work/depth" || fail "--depth: exit $?"
awk '/^B/ { if (depth++ < 1) print } /^E/ { if (--depth < 1) print }' "$work/slices" | cmp -s - <(slices "$work/depth") || fail "--depth 1: other slices than those on top"
for jobs in 1 2 3; do
    "$pugmark" timeline --exact --quiet --jobs "$jobs" --format chrome "$demo" | cmp -s - "$work/chrome" || fail "--jobs $jobs: another file"
done

# A folder that is not whole goes with its writer, which waits here for more trace. A shell has what it begins ignore SIGINT.
default=()
env --default-signal=INT true 2>/dev/null && default=(env --default-signal=INT)
for signal in ${default:+INT} TERM HUP; do
    mkdir "$work/ended" && mkfifo "$work/stream"
    exec 5<>"$work/stream"
    "${default[@]}" "$pugmark" timeline --clock instructions --protocol etmv4 --transport plain --set TRCCONFIGR=0x1801 --set TRCIDR0=0x28000ea1 \
        --set TRCIDR2=0x20001088 --set TRCTRACEIDR=0x10 --format ctf --output "$work/ended/ctf" "$work/stream" 5>&- >"$work/said" 2>&1 &
    cat "$demo/trace.bin" >&5
    until compgen -G "$work/ended/ctf.*" >"$work/begun" || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
    [[ -s $work/begun ]] || fail "ctf: no folder is begun: $(head -n 1 "$work/said")"
    kill -"$signal" $!
    code=0
    wait $! 2>/dev/null || code=$?
    # INT and TERM end a stream as its own end does: with what was wrong with it
    [[ ($code -gt 128 || ($signal != HUP && $code == 3)) && -z $(ls -A "$work/ended") ]] || fail "ctf, $signal: exit $code, $(ls -A "$work/ended") is left"
    exec 5>&-
    rm -r "$work/ended" "$work/stream"
done

# What cannot be.
"$pugmark" timeline --format ctf "$demo" 2>"$work/said"
[[ $? -eq 2 ]] && grep -q 'needs --output' "$work/said" || fail "ctf without a folder"
"$pugmark" timeline --output "$work/no/file" "$demo" 2>"$work/said"
[[ $? -eq 3 ]] && grep -q 'No such file' "$work/said" || fail "a file in no folder"
exit $bad
