#!/bin/sh
# Runs merged: by address where the code agrees, by offset where only the place differs, not
# at all where the code is other; and two runs compared.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
can_sample
build minijit

samples() { # samples FILE NAME: of JIT function NAME
	/usr/bin/python3 -c 'import json,sys
print(sum(f["samples"] for f in json.load(open(sys.argv[1]))["functions"]
	if f["kind"] == "jit" and f["name"] == sys.argv[2]))' "$1" "$2"
}
rows() { # rows FILE: JIT functions
	/usr/bin/python3 -c 'import json,sys
print(sum(f["kind"] == "jit" for f in json.load(open(sys.argv[1]))["functions"]))' "$1"
}

# Three runs at the same addresses, each in a directory of its own.
for i in 1 2 3; do
	mkdir $i
	(cd $i && WRAP='setarch -R' record perf.data -e cpu-clock:u -- ../minijit two 20)
	expect 0 "$annotate" --json $i/perf.data
	mv out $i.json
done
expect 0 "$annotate" --json 1/perf.data 2/perf.data 3/perf.data
mv out all.json
! [ -s err ] || fail "runs of one layout: $(cat err)"
for name in adds muls; do
	sum=$(($(samples 1.json $name) + $(samples 2.json $name) + $(samples 3.json $name)))
	[ "$(samples all.json $name)" -eq $sum ] || fail "$name: not $sum in the merged profile"
done
[ "$(rows all.json)" -eq 2 ] || fail "functions were not merged"
/usr/bin/python3 - <<'CHECK' || fail "samples per run"
import json
merged = {f["name"]: f for f in json.load(open("all.json"))["functions"]}
for run in range(3):
    for f in json.load(open(f"{run + 1}.json"))["functions"]:
        assert merged[f["name"]]["run_samples"][run] == f["samples"], f
CHECK

# Elsewhere: merged by offset, and said.
mkdir 4
(cd 4 && record perf.data -e cpu-clock:u -- ../minijit two 20)
expect 0 "$annotate" --json 1/perf.data 4/perf.data
mv out moved.json
[ "$(rows moved.json)" -eq 2 ] || fail "moved functions were not merged"
grep -q '2 code objects stand at other addresses' err || fail "moved, but: $(cat err)"

# Other code under the same names: refused.
mkdir 5
sed 's|\\x48\\x83\\xc0\\x01", 4);.*|\\x48\\x83\\xe8\\x01", 4);|; s|\\x48\\x0f\\xaf\\xc2", 4);|\\x48\\x29\\xd0\\x90", 4);|' \
	"$here/minijit.c" >other.c
! cmp -s other.c "$here/minijit.c" || fail "the other program is the same"
${CC:-gcc} -O2 -std=gnu11 -D_GNU_SOURCE -o other other.c
(cd 5 && WRAP='setarch -R' record perf.data -e cpu-clock:u -- ../other two 20)
expect 1 "$annotate" --json 1/perf.data 5/perf.data
grep -q "'5/perf.data' is left out: 2 of the 2 code objects that both runs name have other code, 'adds' for one, from byte 9 on" err ||
	fail "other code: $(cat err)"
/usr/bin/python3 -c 'import json
a, b = json.load(open("1.json")), json.load(open("out"))
assert a["samples"] == b["samples"] and len(b["runs"]) == 1' || fail "the refused run was counted"

# Compared, not merged.
expect 0 "$annotate" --diff 1/perf.data 5/perf.data -- adds
grep -q 'jit  *adds  (other code)' out || fail "diff table: $(cat out)"
grep -q ' - .*add     $0x1,%rax$' out || fail "diff listing: $(cat out)"
grep -q ' + .*sub     $0x1,%rax$' out || fail "diff listing: $(cat out)"
