#!/bin/bash
# make prof_NAME: gprof counts the calls of the jit's functions, exactly: 70,000 and 30,000 of a
# program that says so, one of compile_code for each function that the timers have as compiled;
# gmon.out lands in no directory of the user's.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

want() { "$@" || fail "$*"; }
need gprof binutils
[ -x "$BUILD/prof/jit" ] || skip "the jit for gprof is not built: make check-profilers builds it"

cat >counts.py <<'END'
def seven(n, items=(1, 2, 3)):
    for i in range(n):
        first, *rest = items
def three(n):
    for i in range(n):
        try:
            raise KeyError
        except KeyError:
            pass
seven(70000)
three(30000)
print("done")
END
calls() { awk -v name="$1" '$3 == name && $1 ~ /\./ { print $2 }' out; }
timer() { awk -v name="$1" '$2 == name && NF == 2 { print $1 }' out; }

counts() {
	RUNS=2 ROWS=1000 expect 0 "$SRC/tests/profilers/gprof" "$BUILD" counts.py
	want [ "$(grep -c '^done$' out)" -eq 1 ]
	want grep -q '^gprof, 2 runs: [0-9.]* s, of which [0-9.]* s in functions of the jit$' out
	want [ "$(calls runtime_unpack_iterable)" -eq 140000 ]
	want [ "$(calls errors_check_except)" -eq 60000 ]
	tried=$(($(timer functions_compiled) + $(timer functions_not_compiled)))
	want [ "$tried" -ge 2 ]
	want [ "$(calls compile_code)" -eq $((2 * tried)) ]
	# irgen and jitting are parts of compiling.
	want [ $(($(timer us_compiling_irgen) + $(timer us_compiling_jitting))) -le \
		"$(timer us_compiling)" ]
	want [ "$(timer us_compiling_irgen)" -gt 0 ]
}
left() {
	want [ -z "$(find . -name 'gmon*')" ]
	RUNS=many expect 2 "$SRC/tests/profilers/gprof" "$BUILD" counts.py
	echo 'raise SystemExit(4)' >four.py
	RUNS=1 expect 4 "$SRC/tests/profilers/gprof" "$BUILD" four.py
}
check counts counts
check "nothing left" left
finish
