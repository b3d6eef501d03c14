#!/bin/sh
# With --check-stack compiled code asserts its value stack before every instruction: every
# program comes out as under python3, and a wrong stack is found.
. "$SRC/tests/lib.sh"

for program in "$SRC"/tests/jit/programs/*.py "$SRC"/tests/bench/*.py; do
	name=$(basename "$program" .py)
	size=$(sed -n 's/^Usage: .*; \(.*\) in the tests$/\1/p' "$program")
	# shellcheck disable=SC2086 # a list of words
	/usr/bin/python3 "$program" $size >want 2>&1
	status=0
	# shellcheck disable=SC2086
	timeout 120 "$BUILD/jit" --check-stack --threshold=1 --tier2=2 "$program" $size >got 2>&1 ||
		status=$?
	if [ $status -eq 0 ] && cmp -s want got; then
		echo "PASS: $name"
	else
		echo "FAIL: $name: status $status"
		diff want got | tail -n 5
	fi
done

# An entry of a caller's stack is overwritten behind its back.
cat >wrong.py <<'END'
import ctypes
import sys


class Frame(ctypes.Structure):
    _fields_ = [("refs", ctypes.c_ssize_t), ("type", ctypes.c_void_p), ("back", ctypes.c_void_p),
                ("frame", ctypes.c_void_p)]


def spoil():
    caller = sys._getframe(1)
    inner = Frame.from_address(id(caller)).frame
    # FRAME_SPECIALS_SIZE words, two locals, and a list that is being built.
    slots = (ctypes.c_void_p * 16).from_address(inner)
    places = [i for i in range(9, 16) if slots[i] == id(MARK)]
    slots[places[-1]] = 0x1234567
    return 0


MARK = ["mark"]


def victim(a, b):
    return [MARK, spoil(), a + b]


victim(1, 2)
END
status=0
"$BUILD/jit" --check-stack --threshold=1 wrong.py >out 2>&1 || status=$?
if [ $status -eq 134 ] && grep -q "stack check failed in 'victim' .*no object in a slot" out; then
	echo "PASS: a wrong entry is found"
else
	echo "FAIL: a wrong entry is not found: status $status, $(cat out)"
fi
