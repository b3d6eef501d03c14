#!/bin/sh
# Live code that is patched while it is sampled: every version of its bytes has the samples
# that perf script dates to its time; the listings show what was patched, when and why.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
can_sample
build minijit

record patch.data -e cpu-clock:u -- ./minijit patch 60
for bytes in exit load sample; do
	"$annotate" --json --all --bytes=$bytes patch.data >$bytes.json
	"$annotate" --bytes=$bytes patch.data -- adds >$bytes.txt
done
perf script -i patch.data --ns -F time,ip >script.txt

/usr/bin/python3 - <<'CHECK'
import json

def instructions(name):
    function, = [f for f in json.load(open(name))["functions"] if f["kind"] == "jit"]
    return function

events = [line.split() for line in open("patch.data.txt")]
start, size = int(events[0][2], 16), int(events[0][3])
times = [int(e[4]) for e in events if e[0] == "patch"]
expected = [0, 0, 0]
for line in open("script.txt"):
    time, ip = line.split()
    seconds, fraction = time.rstrip(":").split(".")
    stamp = int(seconds) * 10**9 + int(fraction)
    if start <= int(ip, 16) < start + size:
        expected[sum(stamp >= t for t in times)] += 1

versions = instructions("sample.json")["versions"]
found = {v["patched"]: v["samples"] for v in versions}
assert [found.get(i, 0) for i in range(3)] == expected, (found, expected)
assert sum(expected) == instructions("exit.json")["samples"]
print("versions have", expected, "samples")

def body(list_of):
    return [i["bytes"] for i in list_of if i["bytes"] in ("4883c001", "480fafc2")]

adds, muls = "4883c001", "480fafc2"
for version in versions:
    n = version["patched"]
    assert body(version["instructions"]) == [muls] * n + [adds] * (16 - n), version
assert body(instructions("load.json")["instructions"]) == [adds] * 16
final = instructions("exit.json")["instructions"]
assert body(final) == [muls] * 2 + [adds] * 14
patched = [i for i in final if "patches" in i]
assert [i["patches"][0]["why"] for i in patched] == ["first", "second"]
assert [i["patches"][0]["time"] for i in patched] == times
assert all(i["loaded"].split() == ["add", "$0x1,%rax"] for i in patched)
assert not [i for i in final if "loaded" in i and i not in patched]
CHECK

grep -q '^ *[0-9.]*%* *[0-9]* .\*[^0-9a-f]*[0-9a-f]*  imul    %rdx,%rax  ; loaded as: add     $0x1,%rax' exit.txt ||
	fail "the patched instruction is not marked: $(cat exit.txt)"
grep -q 'patched at +[0-9.]* s: 48 83 c0 01 -> 48 0f af c2  second' exit.txt ||
	fail "no patch history: $(cat exit.txt)"
grep -q 'after 2 of 2 patches' sample.txt || fail "versions: $(cat sample.txt)"

# Two runs that patch in another order: unpatched and wholly patched code is the same version in
# both, what is between is not.
for i in 1 2; do
	mkdir $i
	mode=patch
	[ $i -eq 1 ] || mode=patch-back
	(cd $i && WRAP='setarch -R' record perf.data -e cpu-clock:u -- ../minijit $mode 40)
	"$annotate" --json --all --bytes=sample $i/perf.data >$i.json
done
expect 0 "$annotate" --json --all --bytes=sample 1/perf.data 2/perf.data
mv out both.json
/usr/bin/python3 - <<'CHECK' || fail "versions of two runs: see above"
import json

def versions(name):
    function, = [f for f in json.load(open(name))["functions"] if f["kind"] == "jit"]
    counts = {}
    for v in function["versions"]:
        key = "".join(i["bytes"] for i in v["instructions"])
        assert key not in counts, "a version stands there twice"
        assert sum(i["samples"] for i in v["instructions"]) == v["samples"]
        counts[key] = v["samples"]
    return counts

one, two, both = versions("1.json"), versions("2.json"), versions("both.json")
assert len(one) == len(two) == 3 and len(both) == 4, (len(one), len(two), len(both))
for key, count in both.items():
    assert count == one.get(key, 0) + two.get(key, 0), (count, one.get(key), two.get(key))
print(sorted(both.values()), "samples of four versions in two runs")
CHECK

# A cut log is told, and what it holds is used.
set -- jit-*.patches
truncate -s -3 "$1"
expect 1 "$annotate" patch.data
grep -q "patches' is cut in its last line" err || fail "cut log: $(cat err)"
