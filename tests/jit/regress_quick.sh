#!/bin/sh
# The quick part of `make check-regress`: CPython's own tests of the core language come out
# under the jit, every function compiled at once, as under python3.
. "$SRC/tests/lib.sh"
[ -e /usr/lib/python3.11/test/test_grammar.py ] ||
	skip "CPython's tests are not installed (package libpython3.11-testsuite)"
# Under AddressSanitizer objects are malloc()'s, so Python has no statistics of its own.
left_out=
! is_sanitized "$BUILD/jit" || left_out=--leave-out=test_debugmallocstats
# shellcheck disable=SC2086 # one word or none
exec /usr/bin/python3 "$SRC/tests/jit/regress.py" --quick --timeout 240 --lines 6 \
	$left_out --list="$SRC/tests/jit/regress.list" --options=--threshold=1 "$BUILD/jit"
