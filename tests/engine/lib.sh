# Sourced by the engine's tests after tests/lib.sh and tests/launcher/lib.sh.
want() { "$@" || fail "$*"; }
runs=${ENGINE_RUNS:-9}
program=$TMP/split.py
cp "$SRC/tests/profilers/split.py" "$program"
field() { /usr/bin/python3 -c 'import json, sys
print(json.load(open(sys.argv[1] + "/run.json"))[sys.argv[2]])' "$1" "$2"; }

can_sample() {
	"$stablerun" perf -o try -- true 2>tried || true
	[ -e try/perf.data ] || skip "cannot record: $(tail -n 1 tried)"
}

# As many runs here, to compare with.
record_here() {
	"$stablerun" perf -n "$runs" -o here.run -- "$BUILD/jit" -p "$program" 100 >here.out 2>here.err
	"$BUILD/annotate" --json here.run >here.json
}

# equals_here RUN: the same functions at the same addresses, with the same shares within what
# chance does to so many samples, all runs merged.
equals_here() {
	"$BUILD/annotate" --json "$1" >there.json 2>warnings || fail "$(cat warnings)"
	want [ ! -s warnings ]
	/usr/bin/python3 - "$runs" <<'END'
import json, sys
here, there = (json.load(open(n + ".json")) for n in ("here", "there"))
runs = int(sys.argv[1])
assert len(here["runs"]) == len(there["runs"]) == runs, (len(here["runs"]), len(there["runs"]))
assert not there["warnings"], there["warnings"]
total = {"here": here["samples"], "there": there["samples"]}
def counts(report):
    return {(f["name"], f["kind"], f["address"] if f["kind"] == "jit" else ""): f["samples"]
            for f in report["functions"]}
one, other = counts(here), counts(there)
checked = worst = 0
for key in one.keys() | other.keys():
    a, b = one.get(key, 0) / total["here"], other.get(key, 0) / total["there"]
    if max(a, b) < 0.02:
        continue
    share = (a + b) / 2
    sigma = (share * (1 - share) * (1 / total["here"] + 1 / total["there"])) ** 0.5
    checked += 1
    worst = max(worst, abs(a - b))
    # One percent for what a machine busy with other things does to caches and clocks.
    assert abs(a - b) <= 5 * sigma + 0.03, (key, a, b, sigma)
jit = [k for k in one if k[1] == "jit" and k[0].startswith("split.")]
assert len(jit) >= 2 and all(k in other for k in jit if one[k] > 50), jit
print(f"{runs} runs, {total['here']} and {total['there']} samples, {checked} functions compared,",
      f"shares at most {100 * worst:.2f} points apart")
END
}
