#!/bin/bash
# make pprof_NAME: a program that spends 70 and 30 percent of its work in two functions shows
# them with these shares and by their names; many runs of a short start-up show what the
# compiler does where one shows next to nothing.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

want() { "$@" || fail "$*"; }
/sbin/ldconfig -p | grep -q 'libprofiler\.so\.0 ' ||
	skip "libprofiler is not installed (package libgoogle-perftools4)"
# What the recipe runs, with the build given. Its run is kept there: in a build of our own.
mkdir build
for name in stablerun annotate jit rules launcher; do
	ln -s "$BUILD/$name" build/$name
done
recipe() { "$SRC/tests/profilers/pprof" build "$@"; }

shares() {
	expect 0 recipe "$SRC/tests/profilers/split.py"
	want grep -q "^2899801236000$" out
	want grep -q "kept in '$PWD/build/split.pprof.run': 1 run$" err
	want [ -s build/split.pprof.run/cpu.prof ]
	expect 0 "$BUILD/annotate" --json build/split.pprof.run
	/usr/bin/python3 "$SRC/tests/profilers/shares.py" out split.seven split.three || fail "shares"
	want [ ! -s err ]
	# Reading it as a file is the same.
	expect 0 "$BUILD/annotate" --functions build/split.pprof.run/cpu.prof
	want grep -q 'jit  *split.seven (split.py:7)' out
}
their_pprof() {
	google-pprof --text build/jit build/split.pprof.run/cpu.prof >theirs 2>/dev/null
	total=$("$BUILD/annotate" --json build/split.pprof.run | jq .samples)
	want grep -q "Total: $total samples" theirs
	want [ "$(grep -c split.seven theirs)" -eq 0 ]
}

# under FUNCTION FILE: samples whose stack goes through it, in folded stacks.
under() { grep -E ";$1(;| )" "$2" | awk '{ sum += $NF } END { print sum + 0 }'; }
startup() {
	runs=${STARTUP_RUNS:-30}
	echo 'import json, sys; print(len(json.dumps(sys.argv)))' >start.py
	RUNS=1 expect 0 recipe start.py
	"$BUILD/annotate" --folded build/start.pprof.run >one.folded
	RUNS=$runs expect 0 recipe start.py
	want grep -q "kept in '$PWD/build/start.pprof.run': $runs runs" err
	want [ "$(grep -c '^PROFILE' err)" -eq 0 ]
	"$BUILD/annotate" --folded build/start.pprof.run >many.folded
	one=$(under compile_code one.folded) many=$(under compile_code many.folded)
	echo "in compile_code: $one of $(under main one.folded) samples in one run," \
		"$many of $(under main many.folded) in $runs merged" >&3
	# 20 in 100 runs.
	want [ "$many" -ge $((runs / 5)) ]
	want [ $((one * 4)) -le "$many" ]
	# The parts of the compiler have names of their own.
	want [ "$(grep -oE ';compile_code;.*' many.folded | tr ' ;' '\n\n' | grep -E '^(ir|lower|baseline|emit|codemem|cache|symbols|frame)_' |
		sort -u | wc -l)" -ge 2 ]
}
refusals() {
	expect 1 env LIBPROFILER=/nowhere "$SRC/tests/profilers/pprof" build start.py
	want grep -q "libprofiler.so.0 is not installed (Debian's package: libgoogle-perftools4)" err
	RUNS=0 expect 2 recipe start.py
	echo 'raise SystemExit(3)' >three.py
	expect 3 recipe three.py
	want [ ! -e build/three.pprof.run ]
}

exec 3>&1
check shares shares
if command -v google-pprof >/dev/null; then
	check "gperftools' own pprof" their_pprof
else
	echo "SKIP: gperftools' own pprof: not installed (package google-perftools)"
fi
check "start-up" startup
check refusals refusals
finish
