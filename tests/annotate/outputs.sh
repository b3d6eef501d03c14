#!/bin/sh
# Every output is read back: objdump and gdb open the ELF, JSON parsers the JSON, protoc the
# profile for pprof; their numbers are those of the table.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
can_sample
build minijit
build shapes

record jit.data -e cpu-clock:u -- ./minijit two 40
record stacks.data -e cpu-clock:u --call-graph dwarf,8192 -- ./shapes plain 100
expect 0 "$annotate" --json --all jit.data
mv out jit.json

# ELF: true addresses, names, bytes.
expect 0 "$annotate" --elf=jit.elf jit.data
objdump -d jit.elf >objdump.txt || fail "objdump"
/usr/bin/python3 - <<'CHECK' || fail "jit.elf is not what was listed"
import json, re, subprocess
text = open("objdump.txt").read()
for f in json.load(open("jit.json"))["functions"]:
    if f["kind"] != "jit":
        continue
    assert f"{int(f['address'], 16):016x} <{f['name']}>:" in text, f["name"]
    ours = [(int(i["address"], 16), i["bytes"]) for i in f["instructions"]]
    theirs = re.findall(r"^ +([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", text, re.M)
    theirs = {int(a, 16): b.replace(" ", "") for a, b in theirs}
    for address, code in ours:
        assert theirs[address] == code, hex(address)
CHECK
if command -v gdb >/dev/null; then
	address=$(/usr/bin/python3 -c 'import json
print(next(f["address"] for f in json.load(open("jit.json"))["functions"] if f["name"] == "muls"))')
	gdb -nx -batch -ex "info symbol $address" jit.elf >gdb.txt 2>&1
	grep -q '^muls in section' gdb.txt || fail "gdb: $(cat gdb.txt)"
fi

# Folded stacks: sums, and callers down to the start.
expect 0 "$annotate" --folded stacks.data
mv out folded.txt
expect 0 "$annotate" --json stacks.data
mv out stacks.json
/usr/bin/python3 - <<'CHECK' || fail "folded stacks"
import json
report = json.load(open("stacks.json"))
lines = [line.rsplit(" ", 1) for line in open("folded.txt")]
assert sum(int(n) for _, n in lines) == report["samples"]
for f in report["functions"][:3]:
    leaf = sum(int(n) for stack, n in lines if stack.endswith(";" + f["name"]))
    assert leaf == f["samples"], (f["name"], leaf)
whole = sum(int(n) for stack, n in lines if stack.startswith("shapes;_start;"))
assert whole >= 0.95 * report["samples"], whole
divide = [s for s, _ in lines if s.endswith(";divide")]
assert divide == ["shapes;_start;__libc_start_main;__libc_start_call_main;main;burn;divide"] or \
    all(s.endswith(";main;burn;divide") for s in divide), divide
CHECK

# perf's own unwinding of the same file reaches the same callers.
perf script -i stacks.data -F ip,sym >script.txt 2>script.err
[ -s script.txt ] || fail "perf script: $(cat script.err)"

# pprof: the messages say what the stacks say.
expect 0 "$annotate" --pprof=profile.pb stacks.data
if command -v protoc >/dev/null; then
	protoc -I"$SRC" --decode=pprof.Profile annotate/pprof.proto <profile.pb >profile.txt ||
		fail "protoc"
	sum=$(awk '/^sample /,/^}/ { if ($1 == "value:") n += $2 } END { print n }' profile.txt)
	[ "$sum" -eq "$(awk '{ n += $NF } END { print n }' folded.txt)" ] || fail "pprof: $sum"
	grep -q 'string_table: "divide"' profile.txt || fail "pprof: no name"
fi

# pprof itself, where Go is installed, which brings it: the functions' own samples.
if command -v go >/dev/null; then
	HOME=$TMP go tool pprof -top -nodecount=500 -nodefraction=0 profile.pb >pprof.txt 2>pprof.err ||
		fail "go tool pprof: $(cat pprof.err)"
	/usr/bin/python3 - <<'CHECK' || fail "pprof tells other numbers: $(cat pprof.txt)"
import json, re
report = json.load(open("stacks.json"))
rows = re.compile(r"\s*\d+\s+[\d.]+%\s")
text = [line.split(None, 5) for line in open("pprof.txt") if rows.match(line)]
flat = {words[5].strip(): int(words[0]) for words in text}
for f in report["functions"][:5]:
    assert flat[f["name"]] == f["samples"], (f["name"], flat.get(f["name"]), f["samples"])
CHECK
	echo "pprof reads it"
else
	echo "go is not installed (package golang-go): its pprof was not asked"
fi

# Firefox Profiler: consistent tables.
expect 0 "$annotate" --firefox=profile.json stacks.data
/usr/bin/python3 - <<'CHECK' || fail "Firefox profile"
import json
profile, report = json.load(open("profile.json")), json.load(open("stacks.json"))
total = 0
for thread in profile["threads"]:
    samples, stacks = thread["samples"], thread["stackTable"]
    frames, functions = thread["frameTable"], thread["funcTable"]
    total += samples["length"]
    assert len(samples["stack"]) == len(samples["time"]) == samples["length"]
    assert samples["time"] == sorted(samples["time"])
    assert all(0 <= s < stacks["length"] for s in samples["stack"])
    assert all(p is None or p < i for i, p in enumerate(stacks["prefix"]))
    assert all(f < functions["length"] for f in frames["func"])
    assert all(n < len(thread["stringArray"]) for n in functions["name"])
    for table in (stacks, frames, functions):
        assert all(len(v) == table["length"] for k, v in table.items() if k != "length")
assert total == report["samples"]
CHECK

# gdb-script: the hottest instructions, in order.
expect 0 "$annotate" --gdb-script --top=3 jit.data
[ "$(grep -c '^break \*0x' out)" -eq 3 ] || fail "gdb script: $(cat out)"
hottest=$(/usr/bin/python3 -c 'import json
rows = [i for f in json.load(open("jit.json"))["functions"] for i in f["instructions"]]
print(max(i["samples"] for i in rows))')
grep -q "^# $hottest samples" out || fail "gdb script: $(cat out)"

# A page without network, with the data in it.
expect 0 "$annotate" --html=page.html stacks.data
! grep -Eq '(src|href)="?http|@DATA@|@import' page.html || fail "the page needs the network"
/usr/bin/python3 - <<'CHECK' || fail "the page's data"
import json, re
page = open("page.html").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page,
                            re.S).group(1))
report = json.load(open("stacks.json"))
assert data["samples"] == report["samples"]
assert data["stacks"][0][2] == report["samples"]
assert data["functions"][0]["instructions"]
CHECK

# Failures to write are told.
expect 2 "$annotate" --html=/nowhere/page.html stacks.data
grep -q "^annotate: cannot write '/nowhere/page.html': No such file or directory" err ||
	fail "$(cat err)"
expect 2 "$annotate" --json --event=nonsense stacks.data
