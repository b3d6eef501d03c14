#!/bin/sh
# Every program of tests/bench/, at its small size, prints under the jit what CPython prints:
# compiled at once, when hot, and with every guard failing in turn.
. "$SRC/tests/lib.sh"

for program in "$SRC"/tests/bench/*.py; do
	name=$(basename "$program" .py)
	size=$(sed -n 's/^Usage: .*; \(.*\) in the tests$/\1/p' "$program")
	[ -n "$size" ] || fail "$program names no size for the tests"
	# shellcheck disable=SC2086 # a list of words
	/usr/bin/python3 "$program" $size >want
	for options in '' --threshold=1 '--threshold=1 --stress=deopt'; do
		status=0
		# shellcheck disable=SC2086
		"$BUILD/jit" $options "$program" $size >got 2>err || status=$?
		if [ $status -eq 0 ] && diff want got && [ ! -s err ]; then
			echo "PASS: $name $options"
		else
			echo "FAIL: $name $options: status $status"
			head -n 20 err
		fi
	done
done
