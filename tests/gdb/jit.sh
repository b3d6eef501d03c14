#!/bin/sh
# From a profile of the jit to gdb: a breakpoint on the run's hottest JIT instruction, asked
# for before the program has begun, stops there; gdb and annotate agree on what is there.
. "$SRC/tests/lib.sh"
need gdb gdb
need perf linux-perf
[ -x "$BUILD/jit" ] || skip "build/jit is not built"

# The whole directory is as in the run: the jit is told of its program by the same words.
cp "$SRC/tests/bench/nbody.py" .
"$BUILD/stablerun" perf -o n.run -- "$BUILD/jit" -p nbody.py 20000 >plain.out 2>perf.err ||
	skip "cannot record: $(tail -n 1 perf.err)"
[ -e n.run/perf.data ] || skip "no samples: $(tail -n 1 perf.err)"

"$BUILD/annotate" --json --all n.run >n.json
/usr/bin/python3 - >hottest <<'END'
import json
report = json.load(open("n.json"))
code = [(i["samples"], -int(i["address"], 16), f, i) for f in report["functions"]
        if f["kind"] == "jit" and "[stub]" not in f["name"] for i in f["instructions"]]
samples, _, function, instruction = max(code, key=lambda entry: entry[:2])
print(instruction["address"], samples, function["address"], function["name"])
END
read -r address samples start name <hottest
[ "$samples" -gt 0 ] || skip "no sample fell into JIT code"

timeout 200 "$BUILD/stablerun" gdb n.run -batch -ex "stablerun break *$address" -ex run \
	-ex 'print/x $pc' -ex 'echo <listing>\n' -ex "x/8i \$pc" -ex 'echo <end>\n' -ex bt \
	-ex 'stablerun info' -ex 'stablerun hot 3' -ex 'stablerun list' -ex delete \
	-ex continue >gdb.out 2>&1 || true
says() {
	grep -qF -- "$1" gdb.out || { cat gdb.out >&2; fail "gdb does not say '$1'"; }
}
says 'pending until its code exists'
says "= $address"
says "at the first stop: "
says 'addresses compared, all as in the run'
says "$address: $name+$(printf '0x%x' $((address - start)))"
says "samples: $samples, "
says "=> " # the current instruction in the listing
says ' in Py_RunMain '
says ' in main ('
says 'exited normally'
# The same eight instructions stand in annotate's listing: each at its address, under its
# name, to which AT&T's syntax adds the operand's size.
sed -n '/<listing>/,/<end>/s/^\(=>\)\{0,1\} *\(0x[0-9a-f]*\).*:\t\([a-z0-9]*\).*/\2 \3/p' gdb.out >gdb.code
/usr/bin/python3 - "$address" >&2 <<'END' || { cat gdb.code >&2; fail "gdb and annotate differ"; }
import json, sys
report = json.load(open("n.json"))
at = int(sys.argv[1], 16)
ours = sorted((int(i["address"], 16), i["text"].split()[0]) for f in report["functions"]
              for i in f.get("instructions", []))
ours = [entry for entry in ours if entry[0] >= at][:8]
theirs = [line.split() for line in open("gdb.code")]
print(ours)
same = [int(address, 16) == ours[i][0] and name.rstrip("bwlq") == ours[i][1].rstrip("bwlq")
        for i, (address, name) in enumerate(theirs)]
sys.exit(0 if len(same) == 8 and all(same) else 1)
END
# What the program printed is what it prints without gdb.
while read -r line; do
	says "$line"
done <plain.out

# By file and line, too: the first instruction of that line, before it exists.
line=$(grep -n 'square \* sqrt(square)' nbody.py | cut -d: -f1)
timeout 200 "$BUILD/stablerun" gdb n.run -batch -ex "stablerun break nbody.py:$line" -ex run \
	-ex bt -ex 'stablerun info' >gdb.out 2>&1 || true
says "at nbody.py:$line "
says "nbody.py:$line"
says "line: $PWD/nbody.py:$line"
says ' in main ('
