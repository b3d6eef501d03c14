#!/bin/sh
# --seed: every source of randomness gives the same bytes in every run, in every context,
# whatever the order in which threads and children ask.
. "$SRC/tests/supervise/lib.sh"

build randomness -pthread
run=$BUILD/stablerun

# No two lines of one run may be equal but the constant one, and nothing may be zero.
expect 0 "$run" --seed -- ./randomness
mv out first
[ "$(wc -l <first)" -eq 32 ] || fail "the program printed $(wc -l <first) lines"
grep -v '^vdso -38$' first | sed 's/.* //' | sort | uniq -d >equal
[ ! -s equal ] || fail "the same bytes twice in one run: $(cat equal)"
! grep -q ' 0*$' first || fail "zero bytes"
echo "PASS: streams differ within a run"

for i in 1 2 3 4 5; do
	expect 0 "$run" --seed -- ./randomness
	same first out
done
echo "PASS: five runs give the same bytes"

expect 0 env MORE=1 EVEN=2 "$run" --seed=0 -- "$PWD/randomness"
same first out
echo "PASS: another environment and path give the same bytes"

expect 0 "$run" --seed=1 -- ./randomness
[ "$(cat first out | grep -v '^vdso -38$' | sed 's/.* //' | sort | uniq -d | wc -l)" -eq 0 ] ||
	fail "another seed gives some of the same bytes"
echo "PASS: another seed gives other bytes"

# The kernel's vDSO function must not hand out true randomness.
! grep -q '^vdso 0$' first || fail "the vDSO's getrandom works"
echo "PASS: the vDSO's getrandom is silenced"

for kind in '-static -pthread' '-static-pie -pthread' '-no-pie -pthread'; do
	# shellcheck disable=SC2086
	build randomness $kind
	expect 0 "$run" --seed -- ./randomness
	same first out
	echo "PASS: the same bytes from a program built with $kind"
done
if command -v musl-gcc >/dev/null; then
	musl-gcc -static -O1 -w -D_GNU_SOURCE -o randomness "$SRC/tests/supervise/randomness.c"
	# There is no guard there, but the thread's id.
	"$run" --seed -- ./randomness | grep -v ^guard >musl
	"$run" --seed -- ./randomness | grep -v ^guard >out
	same musl out
	# glibc's malloc draws bytes of its own; the threads' are the program's alone.
	grep ^thread musl >musl.threads
	grep ^thread first | same - musl.threads
	echo "PASS: the same bytes with musl"
else
	echo "SKIP: musl: musl-gcc is not installed (package musl-tools)"
fi

build randomness -pthread
as_nobody "$run" --seed -- ./randomness >out
same first out
as_nobody setpriv --no-new-privs "$run" --seed -- ./randomness >out
same first out
echo "PASS: the same bytes as nobody, also without new privileges"

if command -v perf >/dev/null && perf record -o perf.data true >/dev/null 2>&1; then
	perf record -q -o perf.data "$run" --seed -- ./randomness >out
	same first out
	echo "PASS: the same bytes under perf"
else
	echo "SKIP: perf: perf record does not work here (package linux-perf)"
fi
if command -v gdb >/dev/null; then
	for shell in /bin/sh /bin/bash; do
		SHELL=$shell gdb -q -nx -batch -ex "set exec-wrapper $run --seed --" \
			-ex 'set disable-randomization on' -ex "run >out" \
			./randomness >gdb.out 2>&1 </dev/null
		same first out
	done
	echo "PASS: the same bytes under gdb"
else
	echo "SKIP: gdb: not installed (package gdb)"
fi

# What the kernel refuses it refuses as ever.
build refused
expect 0 ./refused
mv out plain
expect 0 "$run" --seed -- ./refused
same plain out
echo "PASS: wrong arguments are answered as the kernel answers them"

"$run" --seed=9 --plan -- true | grep -q 'seed 9.*NOT SECRET' || fail "--plan is not loud"
"$run" --seed=9 --plan=json -- true | grep -q 'seed 9.*NOT SECRET' || fail "the plan is not loud"
echo "PASS: the plan says that keys are not secret"
