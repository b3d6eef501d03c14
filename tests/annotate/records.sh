#!/bin/sh
# Records that perf does not write here, put into recordings by hand: what is passed over
# changes nothing, what was lost or slowed down is told, call stacks that come late and symbols
# of the running kernel are used; in both byte orders.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
can_sample
${CC:-gcc} -O2 -g -fno-omit-frame-pointer -std=gnu11 -D_GNU_SOURCE -pthread -o shapes "$here/shapes.c"
records=$here/records.py

record plain.data -e cpu-clock:u -- ./shapes plain 60
record stacks.data -e cpu-clock:u --call-graph fp -- ./shapes plain 60
for what in others ksymbol; do
	/usr/bin/python3 "$records" plain.data $what.data $what || fail "records.py $what"
done
/usr/bin/python3 "$records" stacks.data deferred.data deferred || fail "records.py deferred"

expect 0 "$annotate" --json plain.data
mv out plain.json
expect 0 "$annotate" --json others.data
mv out others.json
grep -q "kernel slowed the sampling down 3 times" err || fail "throttling is not told: $(cat err)"
grep -q "4096 bytes of hardware traces are not decoded" err || fail "traces: $(cat err)"
expect 0 "$annotate" --json ksymbol.data
mv out ksymbol.json
/usr/bin/python3 - <<'CHECK' || fail "see above"
import json
plain, others = json.load(open("plain.json")), json.load(open("others.json"))
for key in ("samples", "events", "comms", "unresolved", "functions"):
    assert plain[key] == others[key], (key, plain[key], others[key])
assert others["lost"] == plain["lost"] + 12, others["lost"]

report = json.load(open("ksymbol.json"))
found = [f for f in report["functions"] if f["name"] == "bpf_prog_1234_watch"]
assert [(f["kind"], f["samples"]) for f in found] == [("kernel", 10)], found
assert report["samples"] == plain["samples"] + 10
CHECK
echo "PASS: passed over, lost, slowed down"
echo "PASS: kernel symbols"

expect 0 "$annotate" --folded stacks.data
sort out >whole.txt
expect 0 "$annotate" --folded deferred.data
sort out >late.txt
same whole.txt late.txt
grep -q ';main;divide ' late.txt || fail "no stacks: $(cat late.txt)"
echo "PASS: call stacks that come late"

# Text: the loss stands in the first line.
expect 0 "$annotate" --functions others.data
grep -q '^[0-9]* samples, 12 lost$' out || fail "lost: $(head -n 1 out)"
echo "PASS: lost in text"
