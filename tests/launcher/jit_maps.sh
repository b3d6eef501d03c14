#!/bin/bash
# A real JIT puts its code at the same addresses whoever starts it: its perf maps are the same
# line by line in every context.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"
need gdb gdb
need perf linux-perf
[ -x "$BUILD/jit" ] || skip "the jit is not built"

cp "$stablerun" "$BUILD/jit" "$SRC/tests/bench/nbody.py" "$SRC/tests/bench/richards.py" .
stablerun=$TMP/stablerun
mkdir -m 777 output
. "$SRC/tests/launcher/lib-contexts.sh"

# The process tells its ID, by which its map is found.
cat >main.py <<'END'
import os, runpy, sys
sys.argv = [sys.argv[1], *sys.argv[2:]]
runpy.run_path(sys.argv[0], run_name="__main__")
print("pid", os.getpid())
END

# map_in CONTEXT PROGRAM ARG...: the perf map that it leaves.
map_in() {
	context "$1" "$TMP/jit" -p "--dump-dir=$TMP/output" "$TMP/main.py" "${@:2}" \
		>"output/$1.out" || return 1
	map=/tmp/perf-$(sed -n 's/^pid //p' "output/$1.out").map
	cat "$map" >"output/$1.map" && rm "$map"
}
agrees() {
	map_in "$@" && diff output/reference.map "output/$1.map"
}

for program in "nbody.py 3000" "richards.py 2"; do
	# shellcheck disable=SC2086 # a program and its argument
	map_in bash "$TMP"/$program && mv output/bash.map output/reference.map
	lines=$(wc -l <output/reference.map)
	[ "$lines" -ge 3 ] || fail "$program: $lines lines in the perf map"
	for name in bash dash env-i 20000-bytes 101-variables perf gdb-sh nobody setsid; do
		# shellcheck disable=SC2086
		check "$program $name ($lines lines)" agrees "$name" "$TMP"/$program
	done
done
finish
