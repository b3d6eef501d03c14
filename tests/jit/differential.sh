#!/bin/sh
# Every program in programs/ prints under the jit what it prints under /usr/bin/python3:
# compiled when hot, compiled at once by both tiers, and with every guard failing in turn.
. "$SRC/tests/lib.sh"

# check NAME OPTION...: one line for one program in one mode.
check() {
	name=$1
	shift
	status=0
	timeout 120 "$BUILD/jit" "$@" "$SRC/tests/jit/programs/$name.py" >got 2>&1 </dev/null ||
		status=$?
	if [ "$status" -eq 0 ] && cmp -s want got; then
		echo "PASS: $name $*"
	else
		echo "FAIL: $name $*: status $status"
		diff want got | head -n 20
	fi
}

for program in "$SRC"/tests/jit/programs/*.py; do
	name=$(basename "$program" .py)
	/usr/bin/python3 "$program" >want 2>&1 </dev/null || fail "python3 itself fails on $name"
	check "$name"
	check "$name" --threshold=1 --tier2=2
	check "$name" --threshold=1 --tier2=2 --stress=deopt
done
