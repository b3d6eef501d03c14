#!/bin/sh
# Many short runs of the jit make one dense profile: every hot instruction of one long
# sampling is in it, with about the same share; a run of another program is left out.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
can_sample
[ -x "$BUILD/jit" ] && [ -x "$BUILD/stablerun" ] || skip "jit or stablerun is not built"

cat >start.py <<'PYTHON'
import sys

def work(n):
    total = 0
    for i in range(n):
        total += i % 7 * 3
    return total

print(work(int(sys.argv[1])))
PYTHON
runs=${STARTUP_RUNS:-50} turns=2000000
"$BUILD/stablerun" perf -n "$runs" -o many.run -- "$BUILD/jit" -p start.py $turns >many.txt 2>&1 ||
	fail "stablerun perf -n: $(cat many.txt)"
"$BUILD/stablerun" perf -o long.run -- "$BUILD/jit" -p start.py $((turns * runs)) >long.txt 2>&1 ||
	fail "stablerun perf: $(cat long.txt)"
"$BUILD/stablerun" perf -o one.run -- "$BUILD/jit" -p start.py $turns >one.txt 2>&1 || fail "one run"

expect 0 "$annotate" --json --all many.run
mv out many.json
expect 0 "$annotate" --json one.run
mv out one.json
expect 0 "$annotate" --json --all long.run
mv out long.json
/usr/bin/python3 - "$runs" <<'CHECK' || fail "the merged runs are not one profile"
import json, sys
runs = int(sys.argv[1])
many, one = json.load(open("many.json")), json.load(open("one.json"))
assert len(many["runs"]) == runs, many["warnings"]
assert many["samples"] == sum(r["samples"] for r in many["runs"])
work = [f for f in many["functions"] if f["name"].startswith("start.work ") and f["kind"] == "jit"]
assert work, [f["name"] for f in many["functions"] if f["kind"] == "jit"]
samples = sum(f["samples"] for f in work)
alone = sum(f["samples"] for f in one["functions"] if f["name"].startswith("start.work "))
seen = {i["address"] for f in work for i in f["instructions"] if i["samples"]}
print(f"start.work: {samples} samples in {runs} runs, {alone} in one; {len(seen)} instructions seen")
assert samples > 3 * alone, (samples, alone)

def shares(name):
    """Samples by instruction, of each code object of the function: of its baseline code and of
    its optimised one, whose parts of the time a start-up and a long run do not share alike."""
    report, objects = json.load(open(name)), {}
    for f in report["functions"]:
        if f["name"].startswith("start.work ") and f["kind"] == "jit":
            counts = objects.setdefault((f["name"], f["size"]), {})
            for i in f["instructions"]:
                place = int(i["address"], 16) - int(f["address"], 16)
                counts[place] = counts.get(place, 0) + i["samples"]
    return objects

# Within 5 points, and what chance adds to the counts at hand (three standard deviations).
dense, reference = shares("many.json"), shares("long.json")
whole, compared = sum(sum(c.values()) for c in reference.values()), 0
for key, counts in reference.items():
    total = sum(counts.values())
    if total < 0.05 * whole:
        continue
    assert key in dense, f"{key} is hot in the long run, never seen in the short ones"
    dense_total = sum(dense[key].values())
    for place, count in counts.items():
        share = count / total
        if share < 0.03:
            continue
        noise = 3 * (share * (1 - share) * (1 / dense_total + 1 / total)) ** 0.5
        found = dense[key].get(place, 0) / dense_total
        assert found > 0, f"+{place}: {share:.1%} of the long run, never seen in the short ones"
        assert abs(found - share) <= 0.05 + noise, f"{key}+{place}: {share:.1%} and {found:.1%}"
        compared += 1
print(f"{compared} hot instructions of {len(reference)} code objects have the same shares")
assert compared > 3, compared
assert sum(f["run_samples"][0] for f in work) <= samples
assert not [w for w in many["warnings"] if "not merged" in w], many["warnings"]
CHECK

# Another program is refused.
echo 'print(sum(range(1000)))' >other.py
"$BUILD/stablerun" perf -o other.run -- /usr/bin/python3 other.py >other.txt 2>&1 || fail "other"
expect 1 "$annotate" --json one.run other.run
grep -q "'other.run' is left out: it ran '/.*', not '.*jit'" err || fail "other: $(cat err)"
