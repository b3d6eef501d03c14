#!/bin/sh
# Python's command line through the jit: every way to name a program, its environment, and
# what is wrong with it, told as python3 tells it.
. "$SRC/tests/lib.sh"
printf 'import sys\nprint(__name__, sys.argv[1:], sys.flags.optimize)\n' >show.py
printf 'print("before")\ndef f(:\n    pass\n' >broken.py
printf 'def f():\n    return 1 // 0\nf()\n' >raises.py

# both STATUS ARG...: the jit and python3 print the same and exit with STATUS.
both() {
	want=$1
	shift
	for program in "$BUILD/jit" /usr/bin/python3; do
		got=0
		"$program" "$@" >"${program##*/}.out" 2>"${program##*/}.err" <input || got=$?
		[ "$got" -eq "$want" ] || {
			cat "${program##*/}.err" >&2
			fail "'$program $*' exited with $got, not $want"
		}
	done
	same python3.out jit.out
	# The program's own name stands in some messages.
	sed "s|^/usr/bin/python3:|X:|" python3.err >python3.said
	sed "s|^$BUILD/jit:|X:|" jit.err >jit.said
	same python3.said jit.said
}

: >input
both 0 show.py a b
both 0 -O show.py
both 0 -c 'import sys; print(sys.argv)' x
both 0 -m this
both 1 broken.py
grep -q 'SyntaxError' jit.err || fail "no SyntaxError"
both 1 raises.py
both 2 nowhere.py
both 1 -m nowhere
both 3 -c 'raise SystemExit(3)'
echo 'print("from stdin", __name__)' >input
both 0 -
both 0 - x y
: >input
PYTHONWARNINGS=error both 1 -c 'import warnings; warnings.warn("x")'
PYTHONHASHSEED=5 both 0 -c 'print(hash("a"))'
PYTHONPATH=$PWD both 0 -m show
"$BUILD/jit" -s -c pass 2>timers
for timer in us_compiling us_compiling_irgen us_compiling_jitting; do
	grep -qE "^$timer: [0-9]+$" timers || { cat timers >&2; fail "no $timer"; }
done
awk -F': ' '{ value[$1] = $2 }
	END { exit value["us_compiling_irgen"] + value["us_compiling_jitting"] > value["us_compiling"] }' \
	timers || { cat timers >&2; fail "parts of compiling are longer than all of it"; }
