#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tools that profiles are for read them, and find in them what is there. Those that are not installed
# are passed over with a message.
#   profile_consumers.sh BIN SOURCE
set -u
pugmark=$1/pugmark source=$2 bad=0 ran=0
data=$source/../shared/perfdata/paw
[[ -e $data/thread-v1.data ]] || { echo "skipped: no $data"; exit 77; }
# shellcheck source=../support/folder.sh
. "$(dirname "$0")/../support/folder.sh"
cd "$work" || exit 1
export TMPDIR=$work # some of these tools leave logs
root=$data/root llvm=/usr/lib/llvm-16/bin

fail() { echo "$*"; bad=1; }
have() {
  for tool; do
    command -v "$tool" >/dev/null || { echo "passed over: no $tool"; return 1; }
  done
  ran=$((ran + 1))
}
profile() { "$pugmark" profile --quiet --symfs "$root" "$@"; }

# BOLT: no trace that does not fit the code; the program that it makes does the same.
if have "$llvm/perf2bolt" "$llvm/llvm-bolt" "$llvm/merge-fdata"; then
  for which in thread-v0:paw-static thread-v1:libpaw.so ete-raw:libpaw.so; do
    object=${which#*:}
    profile --format bolt --dso "$object" "$data/${which%%:*}.data" >"$object.pre" || fail "bolt: $which"
    "$llvm/perf2bolt" "$root/paw/$object" -p "$object.pre" --pa -o of_bolt --ignore-build-id >said 2>&1
    grep -q 'mismatching disassembled function contents: 0 (' said || fail "perf2bolt, $which: $(cat said)"
    profile --format fdata --dso "$object" "$data/${which%%:*}.data" | sort >ours
    comm -23 ours <(sort of_bolt) >more
    [[ -s ours && ! -s more ]] || fail "fdata, $which: not what perf2bolt makes: $(cat more)"
  done
  # stubs are none of BOLT's functions; without them all fits
  profile --format bolt --without-plt --dso paw "$data/thread-v1.data" >paw.pre
  "$llvm/perf2bolt" "$root/paw/paw" -p paw.pre --pa -o of_bolt --ignore-build-id >said 2>&1
  grep -q 'mismatching disassembled function contents: 0 (' said || fail "perf2bolt without stubs: $(cat said)"
  profile --format fdata --dso paw-static "$data/thread-v0.data" >static.fdata
  "$llvm/merge-fdata" static.fdata static.fdata >twice.fdata 2>/dev/null
  [[ $(awk '{n += $NF} END {print n}' twice.fdata) == $(($(awk '{n += $NF} END {print n}' static.fdata) * 2)) ]] ||
    fail "merge-fdata does not add up"
  "$llvm/llvm-bolt" "$root/paw/paw-static" -o bolted --data=static.fdata --reorder-blocks=ext-tsp \
    --reorder-functions=hfsort >said 2>&1 || fail "llvm-bolt: $(cat said)"
  grep -q '11 out of 11 functions' said || fail "llvm-bolt knows not all functions: $(cat said)"
  if have qemu-aarch64; then
    [[ $(qemu-aarch64 bolted 3 24) == $(qemu-aarch64 "$root/paw/paw-static" 3 24) ]] || fail "the bolted program does something else"
  fi
fi

# LLVM: lines and calls as its own profgen makes them of the same counts; the compiler takes them.
profile --format llvm --dso paw-static "$data/thread-v0.data" >ours.prof || fail "llvm"
lines() { awk '/^[^ ]/ {split($0, f, ":"); name = f[1]} /^ / {sub(/:[0-9]+$/, "", $2); print name, $0}' "$1" |
  sed -E 's/(: [A-Za-z_0-9]+):[0-9]+$/\1/' | sort; }
if have llvm-profgen-19; then
  profile --format profgen --dso paw-static "$data/thread-v0.data" >counts
  llvm-profgen-19 --binary="$root/paw/paw-static" --unsymbolized-profile=counts --output=theirs.prof --format=text >said 2>&1 ||
    fail "llvm-profgen: $(cat said)"
  cmp -s <(lines ours.prof) <(lines theirs.prof) || fail "not the lines of llvm-profgen: $(diff <(lines ours.prof) <(lines theirs.prof) | head)"
  profile --format brstack "$data/thread-v0.data" >stacks || fail "brstack"
  llvm-profgen-19 --binary="$root/paw/paw-static" --perfscript=stacks --output=stacks.prof --format=text >said 2>&1 ||
    fail "llvm-profgen, brstack: $(cat said)"
  covered() { lines "$1" | sed -E 's/: [0-9]+.*$//' | sort -u; }
  cmp -s <(covered ours.prof) <(covered stacks.prof) || fail "brstack: not the lines that ran: $(diff <(covered ours.prof) <(covered stacks.prof) | head)"
  entries() { grep -E '^[^ ]' "$1" | awk -F: '{print $1, $3}' | sort; }
  cmp -s <(entries ours.prof) <(entries theirs.prof) || fail "not its entries: $(diff <(entries ours.prof) <(entries theirs.prof))"
fi
if have llvm-profdata-16; then
  llvm-profdata-16 show --sample ours.prof >/dev/null || fail "llvm-profdata show"
  llvm-profdata-16 merge --sample --text ours.prof -o once && llvm-profdata-16 merge --sample --text once -o again
  cmp -s once again || fail "llvm-profdata: no fixed point"
fi
if have clang && [[ -e $root/paw/libpaw.c ]]; then
  printf 'int f(int a) { int s = 0; for (int i = 0; i < a; i++) s += i & 3 ? i : -i; return s; }\n' >x.c
  printf 'f:100:1\n 0: 1\n 1: 50\n' >x.prof
  clang -O2 -g -fprofile-sample-use=ours.prof -c x.c -o x.o || fail "clang"
fi
if have create_llvm_prof; then
  profile --format autofdo --dso paw-static "$data/thread-v0.data" >afdo
  create_llvm_prof --profiler=text --profile=afdo --binary="$root/paw/paw-static" --format=text --out=afdo.prof >said 2>&1 ||
    fail "create_llvm_prof: $(cat said)"
  grep -q '^fib:.*:25$' afdo.prof || fail "create_llvm_prof: no fib with 25 entries"
fi
if have create_gcov dump_gcov; then
  create_gcov --profiler=text --profile=afdo --binary="$root/paw/paw-static" --gcov=fbdata.afdo --gcov_version=2 >said 2>&1 ||
    fail "create_gcov: $(cat said)"
  dump_gcov --gcov_version=2 fbdata.afdo 2>/dev/null | grep -q fib || fail "create_gcov: no fib"
fi

# callgrind: the sum of what functions did is the total, and calls cost what they cost; also where a library is not there any
# more, whose functions have no names then.
annotated() { # profile, functions that are passed over
  callgrind_annotate --inclusive=yes --tree=both "$1" >said 2>&1 || fail "callgrind_annotate, $1: $(cat said)"
  total=$(awk '/PROGRAM TOTALS/ {gsub(",", "", $1); print $1}' said)
  [[ $total == $(awk '{n += $3} END {print n}' "$data/expected/thread-v1.functions") ]] || fail "callgrind, $1: $total in all"
  while read -r name _ _ _ inclusive; do
    [[ $name == \[* || " $2 " == *" $name "* ]] && continue
    grep -E '\*  .*:'"$name"' ' said | tr -d , | awk '{print $1}' | grep -qx "$inclusive" || fail "callgrind, $1: $name is not $inclusive"
  done <"$data/expected/thread-v1.functions"
}
profile --format callgrind "$data/thread-v1.data" >cg.out || fail "callgrind"
cp -r "$root" less
"$pugmark" profile --quiet --symfs less -o less.pug "$data/thread-v1.data" && rm less/paw/libpaw.so
"$pugmark" profile --quiet --symfs less --format callgrind less.pug >less.out || fail "callgrind without a library"
if have callgrind_annotate; then
  annotated cg.out ''
  annotated less.out 'paw_mix paw_sum scramble'
fi

# lcov
"$pugmark" coverage --quiet --symfs "$root" --format lcov "$data/thread-v0.data" >all.info || fail "lcov"
if have lcov; then
  lcov --summary all.info --rc lcov_branch_coverage=1 >said 2>&1 || fail "lcov: $(cat said)"
  lcov -a all.info -a all.info -o twice.info >said 2>&1 || fail "lcov -a: $(cat said)"
  sum() { awk -F'[:,]' '/^DA/ {n += $3} END {print n}' "$1"; }
  [[ $(sum twice.info) == $(($(sum all.info) * 2)) ]] || fail "lcov does not add up"
fi
if have genhtml; then
  mkdir sources && cp "$root"/paw/*.c sources/
  sed "s|^SF:/paw/|SF:$work/sources/|" all.info >here.info
  genhtml --branch-coverage -o html here.info >said 2>&1 || fail "genhtml: $(cat said)"
fi

# branch stacks of one object: neither another one's mapping, nor branches to or from it
profile --format brstack --dso libpaw.so "$data/thread-v1.data" >stacks || fail "brstack --dso"
[[ $(grep MMAP2 stacks | sed 's/.* //' | sort -u) == */libpaw.so ]] || fail "brstack --dso: $(grep MMAP2 stacks)"
read -r first size < <(sed -n 's/.*\[0x\([0-9a-f]*\)(0x\([0-9a-f]*\)).*/\1 \2/p' stacks | head -1)
for place in $(grep -v MMAP2 stacks | grep -o '0x[0-9a-f]*/0x[0-9a-f]*' | tr / ' '); do
  ((place >= 0x$first && place < 0x$first + 0x$size)) || fail "brstack --dso: $place is not in libpaw.so"
done

# pprof
profile --format pprof "$data/thread-v1.data" -o p.pb.gz || fail "pprof"
if have perl; then
  for object in paw libpaw.so; do
    profile --format pprof --dso "$object" "$data/thread-v1.data" | zcat >one || fail "pprof: --dso"
    got=$(perl "$source/tests/support/read_pprof.pl" one | awk '$1 == "function" {n += $3} END {print n}')
    [[ $got == $(profile --json --dso "$object" "$data/thread-v1.data" | sed -n 's/^{"instructions": \([0-9]*\).*/\1/p' | head -1) ]] || fail "pprof: $got in $object"
  done
fi
if have protoc; then
  proto=$(find /usr/share/gocode -name profile.proto 2>/dev/null | head -1)
  if [[ $proto ]]; then
    zcat p.pb.gz | protoc --proto_path="$(dirname "$proto")" --decode=perftools.profiles.Profile profile.proto >decoded || fail "protoc"
    total=$(awk '/^sample {/ {s = 1} s && /^  value:/ {n += $2; s = 0} END {print n}' decoded)
    [[ $total == $(awk '{n += $3} END {print n}' "$data/expected/thread-v1.functions") ]] || fail "pprof: $total in all"
  else
    zcat p.pb.gz | protoc --decode_raw >/dev/null || fail "protoc --decode_raw"
  fi
fi

total=$(awk '{n += $3} END {print n}' "$data/expected/thread-v1.functions")
if have go; then
  if [[ -e /usr/share/gocode/src/github.com/google/pprof ]]; then
    GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$work/go GOFLAGS= go build -o pprof github.com/google/pprof >said 2>&1 ||
      fail "pprof cannot be built: $(cat said)"
    ./pprof -top -nodefraction 0 p.pb.gz >said 2>&1 || fail "pprof: $(cat said)"
    grep -q "of $total total" said || fail "pprof: not $total in all: $(head -6 said)"
    while read -r name _ _ _ inclusive; do
      awk '{print $4, $6}' said | grep -qxF "$inclusive $name" || fail "pprof: $name is not $inclusive"
    done <"$data/expected/thread-v1.functions"
    ./pprof -traces p.pb.gz >said 2>&1 || fail "pprof -traces: $(cat said)"
  else
    echo "passed over: no sources of pprof"
  fi
fi

# What npm has, where it is installed (NODE_PATH, or globally).
export NODE_PATH=${NODE_PATH:-$(npm root -g 2>/dev/null)}
if have node && node -e 'require("pprof-format")' 2>/dev/null; then
  got=$(node -e '
    const {Profile} = require("pprof-format"), zlib = require("zlib"), fs = require("fs");
    const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync("p.pb.gz")));
    console.log(profile.sample.reduce((sum, sample) => sum + Number(sample.value[0]), 0))') || fail "pprof-format"
  [[ $got == "$total" ]] || fail "pprof-format: $got in all, not $total"
else
  echo "passed over: no pprof-format"
fi
schema=$NODE_PATH/speedscope/dist/release/file-format-schema.json
# Debian's python3 has Debian's modules; another one that stands before it in PATH may not.
python=
for candidate in python3 /usr/bin/python3; do
  [[ -z $python ]] && "$candidate" -c 'import jsonschema' 2>/dev/null && python=$candidate
done
if [[ -e $schema && -n $python ]]; then
  ran=$((ran + 1))
  "$pugmark" timeline --exact --quiet --format speedscope --symfs "$root" "$data/thread-v1.data" >timeline.json || fail "speedscope"
  "$python" -c 'import json, jsonschema, sys
jsonschema.validate(json.load(open("timeline.json")), json.load(open(sys.argv[1])))' "$schema" >said 2>&1 ||
    fail "speedscope does not take it: $(tail -3 said)"
else
  echo "passed over: no speedscope, or no jsonschema"
fi

[[ $bad == 0 ]] || exit 1
[[ $ran -gt 0 ]] || { echo "skipped: none of the tools is installed"; exit 77; }
echo "$ran tools read what they are given"
