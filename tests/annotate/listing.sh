#!/bin/sh
# What a listing shows of an instruction beside its text: inlined functions as addr2line names
# them, jump arrows from each jump to its label, basic blocks whose totals add up, the mark on a
# slow instruction, collapsed nops; one function by name is the same as among all.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
can_sample
need addr2line binutils

cat >inline.c <<'C'
#include <stdlib.h>
#include <stdio.h>
static inline __attribute__((always_inline)) unsigned long inner(unsigned long x)
{
	return x * 2654435761u + (x >> 3);
}
static inline __attribute__((always_inline)) unsigned long outer(unsigned long x)
{
	for (int i = 0; i < 3; i++)
		x = inner(x) ^ i;
	return x;
}
__attribute__((noinline)) unsigned long work(unsigned long n, unsigned long d)
{
	unsigned long sum = 1;
	for (unsigned long i = 0; i < n; i++) {
		sum += outer(i);
		if (sum % d == 0) /* a division */
			sum += outer(sum);
	}
	return sum;
}
int main(int argc, char **argv)
{
	printf("%lu\n", work(strtoul(argv[1], NULL, 10), argc + 5));
	return 0;
}
C
${CC:-gcc} -g -O2 -fno-unroll-loops -falign-loops=32 -o inline inline.c
record inline.data -e cpu-clock:u -- ./inline 40000000
expect 0 "$annotate" --json --all inline.data
mv out inline.json
expect 0 "$annotate" --color=never inline.data -- work
mv out work.txt
expect 0 "$annotate" --color=never --all inline.data
mv out all.txt

# addr2line -i prints the innermost first and the function itself last.
/usr/bin/python3 - <<'CHECK' || fail "inlined functions, blocks or marks: see above"
import json, subprocess
report = json.load(open("inline.json"))
work, = [f for f in report["functions"] if f["name"] == "work"]
base = int(next(l.split()[0] for l in subprocess.run(["nm", "inline"], capture_output=True,
    text=True).stdout.splitlines() if l.endswith(" work")), 16)
delta = base - int(work["address"], 16)
rows = work["instructions"]
chains = set()
for row in rows:
    address = hex(int(row["address"], 16) + delta)
    lines = subprocess.run(["addr2line", "-f", "-i", "-e", "inline", address],
        capture_output=True, text=True).stdout.splitlines()[::2]
    assert lines[-1] == "work", lines
    assert row.get("inlined", []) == lines[-2::-1], (address, row.get("inlined"), lines)
    chains.add(tuple(row.get("inlined", [])))
assert ("outer", "inner") in chains, chains

# Blocks: each leader's total is that of the rows up to the next.
totals, at = [], None
for row in rows:
    if "block" in row:
        totals.append([row["block"], 0])
    totals[-1][1] += row["samples"]
assert all(told == summed for told, summed in totals) and len(totals) > 3, totals
assert sum(t for t, _ in totals) == work["samples"]

# A jump's target is the row with that label; blocks begin behind jumps and at labels.
labels = {row["label"]: i for i, row in enumerate(rows) if "label" in row}
jumps = [(i, row) for i, row in enumerate(rows) if "target" in row]
assert jumps and all(row["target"] in labels for _, row in jumps)
for i, row in jumps:
    aim = int(row["text"].split()[-1], 16)
    assert int(rows[labels[row["target"]]]["address"], 16) == aim, row
    assert i + 1 == len(rows) or "block" in rows[i + 1], row

# The division is slow: its samples are on what follows, and it is marked.
marked = [row["text"].split()[0] for row in rows if row.get("culprit")]
assert any(name.startswith("div") for name in marked), marked
CHECK

# The text has an arrow's head at each label it leads to and a tail at each jump.
grep -q 'in work > outer > inner' work.txt || fail "no inlined functions: $(cat work.txt)"
/usr/bin/python3 - <<'CHECK' || fail "arrows: $(cat work.txt)"
import re
lines = open("work.txt").read().splitlines()
targets = {m[1] for l in lines if (m := re.search(r"\bj[a-z]+ +(L\d+)$", l))}
assert targets
heads = 0
for i, line in enumerate(lines):
    if (m := re.search(r" (L\d+):", line)) and m[1] in targets:
        code = next(l for l in lines[i + 1:] if re.search(r" [0-9a-f]+  \S", l) and "L" + m[1] not in l)
        heads += "▸" in code
tails = sum("──" in l and re.search(r"\bj[a-z]+ +L\d+$", l) is not None for l in lines)
assert heads == len(targets), (heads, targets)
assert tails == sum(re.search(r"\bj[a-z]+ +L\d+$", l) is not None for l in lines), tails
CHECK

# Alone, and among all.
/usr/bin/python3 - <<'CHECK' || fail "one function alone is another than among all"
alone = [l.rstrip() for l in open("work.txt")]
everything = [l.rstrip() for l in open("all.txt")]
begin = everything.index(alone[0])
assert everything[begin:begin + len(alone)] == alone
CHECK
expect 2 "$annotate" inline.data -- nosuchfunction
grep -q "no samples in a function 'nosuchfunction'" err || fail "missing function: $(cat err)"
expect 0 "$annotate" inline.data -- wor
grep -q '^work  native' out || fail "a part of a name: $(cat out)"
start=$(sed -n 's/^\(0x[0-9a-f]*\), .*bytes.*/\1/p' work.txt)
expect 0 "$annotate" --color=never inline.data -- "$start"
same out work.txt
