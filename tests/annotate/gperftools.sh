#!/bin/sh
# CPU profiles of gperftools: the counts are those that its own pprof prints, JIT code has the
# names of its jitdump or perf map, a cut profile is told.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
library=$(ls /usr/lib/*/libprofiler.so.0 2>/dev/null | head -n 1)
[ -n "$library" ] || skip "libprofiler is not installed (package libgoogle-perftools4)"
build shapes
build minijit

# The profile's own numbers, by a reader of a few lines.
cat >raw.py <<'RAW'
import struct, sys
data = open(sys.argv[1], "rb").read()
words, at, total, pcs = struct.unpack("<%dQ" % (len(data) // 8), data[:len(data) // 8 * 8]), 5, 0, {}
while True:
    count, depth = words[at], words[at + 1]
    if count == 0:
        break
    pcs[words[at + 2]] = pcs.get(words[at + 2], 0) + count
    total += count
    at += 2 + depth
print(total)
for pc, count in pcs.items():
    print(hex(pc), count)
RAW

LD_PRELOAD=$library CPUPROFILE=shapes.prof CPUPROFILE_FREQUENCY=1000 ./shapes plain 300 2>err
/usr/bin/python3 raw.py shapes.prof >raw.txt
expect 0 "$annotate" --json shapes.prof
mv out shapes.json
/usr/bin/python3 - <<'CHECK' || fail "counts differ from the profile's"
import json
report = json.load(open("shapes.json"))
total, *lines = open("raw.txt").read().splitlines()
assert report["samples"] == int(total), (report["samples"], total)
pcs = [(int(a, 16), int(n)) for a, n in map(str.split, lines)]
for f in report["functions"]:
    start = int(f["address"], 16)
    inside = sum(n for pc, n in pcs if start <= pc < start + f["size"])
    assert inside == f["samples"], (f["name"], f["samples"], inside)
assert report["functions"][0]["name"] == "divide"
assert report["comms"] == {"shapes": int(total)}
CHECK

expect 0 "$annotate" --folded shapes.prof
grep -q '^shapes;.*main;burn;divide [0-9]*$' out || fail "no call stacks: $(cat out)"

mkdir jit
(cd jit && LD_PRELOAD=$library CPUPROFILE=jit.prof CPUPROFILE_FREQUENCY=1000 \
	../minijit two 100 >/dev/null 2>err)
expect 0 "$annotate" --functions jit/jit.prof
grep -q 'jit  *adds ' out && grep -q 'jit  *muls ' out || fail "JIT code: $(cat out err)"

head -c 120 shapes.prof >cut.prof
expect 1 "$annotate" --functions cut.prof
grep -q "'cut.prof': the profile is cut: its end is missing" err || fail "cut: $(cat err)"
