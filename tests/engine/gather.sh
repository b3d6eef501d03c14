#!/bin/bash
# stablerun gather: several runs as one RUN, which annotate adds up; a run of another machine
# is named and left out, kept or refused; nothing happens to the runs themselves.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

cat >work.py <<'END'
def work(n):
    total = 0
    for i in range(n):
        total += i % 7 * 3
    return total
print(work(300000))
END
want() { "$@" || fail "$*"; }
field() { /usr/bin/python3 -c 'import json, sys
print(json.load(open(sys.argv[1] + "/run.json"))[sys.argv[2]])' "$1" "$2"; }
samples() { "$BUILD/annotate" --json "$1" | /usr/bin/python3 -c 'import json, sys
report = json.load(sys.stdin)
print(report["samples"], len(report["runs"]) if len(sys.argv) > 1 else "")' ${2-}; }

for run in a b c; do
	"$stablerun" perf -o $run -- "$BUILD/jit" -p work.py >/dev/null 2>perf.err
	[ -e $run/perf.data ] || skip "cannot record: $(tail -n 1 perf.err)"
done
"$stablerun" perf -n 2 -o two -- "$BUILD/jit" -p work.py >/dev/null 2>&1

# Another machine's run: another kernel, a cpu that lacks a feature, another library.
other() {
	cp -r c other
	/usr/bin/python3 - "$@" <<'END'
import json
run = json.load(open("other/run.json"))
run["kernel"] = "Linux 4.19"
run["cpu"]["features"] = " ".join(run["cpu"]["features"].split()[1:])
path = next(p for p in run["build_ids"] if "libc.so" in p)
run["build_ids"][path] = "00" * 20
json.dump(run, open("other/run.json", "w"))
END
}
other

together() {
	expect 0 "$stablerun" gather -o all a two b
	want grep -q "kept in '$PWD/all': 4 runs, " err
	want [ "$(field all runs)" = 4 ]
	want [ -e all/4/run.json ] && want [ ! -e all/5 ]
	want cmp two/perf.data all/2/perf.data
	want cmp two/2/perf.data all/3/perf.data
	want [ "$(field all/2 runs)" = 1 ]
	sum=0
	for run in a two b; do
		sum=$((sum + $(samples $run)))
	done
	want [ "$(samples all count)" = "$sum 4" ]
	# Gathering what was gathered is the same.
	expect 0 "$stablerun" gather -o half a two
	expect 0 "$stablerun" gather -o again half b
	want diff -r -x run.json all again
	want [ "$(field a runs)" = 1 ]
}
left_out() {
	expect 0 "$stablerun" gather -o dropped a other b
	want grep -q "1 of 3 runs differ from the others, those of 'other': kernel Linux 4.19, not" err
	want grep -q "cpu features without $(grep -m1 '^flags' /proc/cpuinfo | awk '{ print $3 }')" err
	want grep -q "build-id of '.*libc.so.6' 000000000000, not" err
	want grep -q "left out (--differing=keep takes them too)" err
	want [ "$(field dropped runs)" = 2 ]
	# The most decide, not the first.
	expect 0 "$stablerun" gather -f -o dropped other a b
	want [ "$(field dropped kernel)" = "$(field a kernel)" ]
}
kept() {
	expect 0 "$stablerun" gather --differing=keep -o kept a other b
	want grep -q "those of 'other': .*; kept all the same" err
	want [ "$(field kept runs)" = 3 ]
}
refused() {
	expect 125 "$stablerun" gather --differing=refuse -o none a other b
	want [ ! -e none ]
	expect 125 "$stablerun" gather -o none a missing
	want grep -q "cannot open 'missing'" err
	expect 125 "$stablerun" gather -o a b
	want grep -q "exists already (-f replaces it)" err
	expect 125 "$stablerun" gather --differing=maybe -o none a
	want grep -q "bad value 'maybe' for option '--differing'" err
	want [ -z "$(find . -name '.*.[0-9]*')" ]
}
check together together
check "left out" left_out
check kept kept
check refused refused
finish
