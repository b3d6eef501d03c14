#!/bin/sh
# The demo's profile, against perf's own reading of it: the counts of a listing add up to the
# samples that perf script has in that function's range, and 95% have a function's name.
. "$SRC/tests/lib.sh"
need perf linux-perf
cp "$SRC/tests/bench/nbody.py" .
"$BUILD/stablerun" perf -o n.run -- "$BUILD/jit" nbody.py 60000 >/dev/null 2>perf.err ||
	skip "cannot record: $(tail -n 1 perf.err)"
[ -e n.run/perf.data ] || skip "no samples: $(tail -n 1 perf.err)"
"$BUILD/annotate" --json --all n.run >n.json
perf script -i n.run/perf.data -F ip -G 2>/dev/null | awk 'NF { print $1 }' >all.ip
# Without call chains a line is a sample; with them the first of each block is.
perf script -i n.run/perf.data -F ip 2>/dev/null |
	awk '!NF { first = 1; next } first || NR == 1 { print $1; first = 0 }' >chain.ip
/usr/bin/python3 - <<'END'
import json
import sys

report = json.load(open("n.json"))
addresses = [int(word, 16) for word in open("all.ip").read().split()]
if len(addresses) != report["samples"]:
    addresses = [int(word, 16) for word in open("chain.ip").read().split()]
assert len(addresses) == report["samples"] > 100, (len(addresses), report["samples"])
named = sum(f["samples"] for f in report["functions"])
assert named >= 0.95 * report["samples"], (named, report["samples"])
jit = max((f for f in report["functions"] if f["kind"] == "jit"), key=lambda f: f["samples"])
start, end = int(jit["address"], 16), int(jit["address"], 16) + jit["size"]
inside = sum(start <= address < end for address in addresses)
listed = sum(i["samples"] for i in jit["instructions"])
assert inside == listed == jit["samples"] > 0, (jit["name"], inside, listed, jit["samples"])
print(jit["name"], listed, "of", report["samples"], "named", named)
END
