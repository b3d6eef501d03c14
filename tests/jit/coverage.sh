#!/bin/sh
# Nearly all bytecode that the bench programs execute runs in compiled code, by the counters of
# -s: 95% in all of them together, even at the tests' small sizes, where the start weighs most.
. "$SRC/tests/lib.sh"

for program in "$SRC"/tests/bench/*.py; do
	size=$(sed -n 's/^Usage: .*; \(.*\) in the tests$/\1/p' "$program")
	# shellcheck disable=SC2086 # a list of words
	"$BUILD/jit" -s "$program" $size 2>&1 >/dev/null | awk -v name="$(basename "$program" .py)" '
		$1 == "bytecodes_compiled:" { compiled = $2 }
		$1 == "bytecodes_interpreted:" { interpreted = $2 }
		END { print name, compiled + 0, interpreted + 0 }'
done >counts
cat counts
awk '
	{ compiled += $2; interpreted += $3 }
	$2 < 4 * $3 { print "too little of " $1 " is compiled"; bad = 1 }
	END {
		share = 100 * compiled / (compiled + interpreted + 1)
		printf "%.2f%% of %d bytecodes run compiled\n", share, compiled + interpreted
		exit bad || NR < 20 || share < 95
	}' counts || fail "too much is interpreted"

# The counters see interpretation: with nothing compiled there is no share.
"$BUILD/jit" -s --threshold=1000000 -c 'def f(x):
    return x + 1
for i in range(1000): f(i)' 2>&1 | grep -q '^bytecodes_interpreted: [0-9]\{4,\}$' ||
	fail "interpreted calls are not counted"
