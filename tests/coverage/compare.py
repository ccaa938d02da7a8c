# SPDX-License-Identifier: MIT
"""Coverage of a program by its trace against what compilers' own instrumentation counts.

compare.py NAME GCOV LLVM TRACE: llvm-cov gcov's text with -a, llvm-cov's export, `pugmark coverage --mcdc --format json`.
Prints what differs; the last line says how much was compared, and what was left out, with its reason.
"""
import json
import re
import sys

name, gcov, llvm, trace = sys.argv[1:]
wrong = []
left_out = []

# gcov: "COUNT: LINE:text"; with -a each block of the line follows as "COUNT: LINE-block N".
lines, blocks, here = {}, {}, False
for text in open(gcov):
    source = re.match(r" *-: *0:Source:(.*)", text)
    if source:
        here = source.group(1).endswith(name)
    line = re.match(r" *([0-9]+|#####|%%%%%|=====|\$\$\$\$\$)\*?: *([0-9]+)(:|-block)", text)
    if not here or not line or line.group(2) == "0":
        continue
    number = int(line.group(2))
    if line.group(3) == ":":
        lines[number] = int(line.group(1)) if line.group(1).isdigit() else 0
    else:
        blocks[number] = blocks.get(number, 0) + 1

(ours,) = [f for f in json.load(open(trace))["files"] if f["path"].endswith("/" + name)]
(peer,) = [f for f in json.load(open(llvm))["data"][0]["files"] if f["filename"].endswith("/" + name)]

counts = {line["line"]: line["count"] for line in ours["lines"]}
if set(counts) != set(lines):
    wrong.append(f"lines: {sorted(set(counts) ^ set(lines))} in one alone")
for number in sorted(set(counts) & set(lines)):
    if blocks.get(number, 0) > 1 and counts[number] != lines[number]:
        left_out.append(f"line {number}: several blocks, which gcov adds up")
    elif counts[number] != lines[number]:
        wrong.append(f"line {number}: gcov counts {lines[number]}, the trace {counts[number]}")

# Branches of decisions that have no branch for each condition are of another kind: these are told, with the reason.
doubtful = {d["line"]: d["not_measurable"] for d in ours["decisions"] if "not_measurable" in d}
def outcomes(pairs):
    found = {}
    for line, one, other in pairs:
        found.setdefault(line, []).append(tuple(sorted((one, other))))
    return {line: sorted(all) for line, all in found.items()}
mine = outcomes((b["line"], b["taken"], b["not_taken"]) for b in ours["branches"])
theirs = outcomes((b[0], b[4], b[5]) for b in peer["branches"])
switch = any(line.strip().startswith("switch") for line in open(name))
for line in sorted(set(mine) | set(theirs)):
    if line in doubtful:
        left_out.append(f"branches of line {line}: {doubtful[line]}")
    elif mine.get(line) != theirs.get(line) and switch:
        left_out.append(f"branches of line {line}: cases of a switch are comparisons one after the other")
    elif line not in mine:
        left_out.append(f"branches of line {line}: there is none in the object code")
    elif mine[line] != theirs.get(line):
        wrong.append(f"branches of line {line}: llvm-cov {theirs.get(line)}, the trace {mine[line]}")

decided = {d["line"]: [bool(c["covered"]) for c in d["conditions"]]
           for d in ours["decisions"] if "not_measurable" not in d and len(d["conditions"]) > 1}
records = {record[0]: list(map(bool, record[-1])) for record in peer.get("mcdc_records", [])}
for line, covered in records.items():
    if line in doubtful:
        left_out.append(f"decision of line {line}: {doubtful[line]}")
    elif decided.get(line) != covered:
        wrong.append(f"decision of line {line}: llvm-cov {covered}, the trace {decided.get(line)}")

for text in wrong:
    print(f"{name}: {text}")
for text in left_out:
    print(f"  not compared: {name}: {text}")
print(f"{len(lines)} lines, {len(mine)} lines with branches, {len(records)} decisions, {len(left_out)} left out")
sys.exit(bool(wrong))
