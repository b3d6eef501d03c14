#!/bin/sh
# --clock=startup: CLOCK_MONOTONIC stands still for each image's first moments, at the same
# time in every run, and then is the kernel's.
. "$SRC/tests/supervise/lib.sh"

run=$BUILD/stablerun
build clock
expect 0 "$run" -- ./clock
echo "runs
released" >plain
same plain out
echo "PASS: without it the clock runs"

echo "held 1000000000
waited
released" >held
cat held held >twice
for kind in -pie -no-pie -static; do
	# shellcheck disable=SC2086
	build clock $kind
	expect 0 as_nobody "$run" --clock=startup:100 -- ./clock exec
	same twice out
	echo "PASS: held and released, also after an exec ($kind)"
done
if command -v musl-gcc >/dev/null; then
	musl-gcc -static -O1 -D_GNU_SOURCE -o clock "$SRC/tests/supervise/clock.c"
	expect 0 "$run" --clock=startup:100 -- ./clock
	same held out
	echo "PASS: held and released with musl"
else
	echo "SKIP: musl: musl-gcc is not installed (package musl-tools)"
fi

# Together with the rest.
build clock
expect 0 "$run" --clock=startup:100 --seed -f -o kept -- ./clock exec
same twice out
echo "PASS: with seed and code"

# Nobody is left to release it: it ends by itself, and until then waits last.
build killer
expect 0 env KILL_WITHIN=60 ./killer supervisor 2 "$run" --clock=startup:100 -- ./clock
echo "PASS: it is released with the supervisor killed: $(cat out)"

"$run" --clock=startup --plan -- true | grep -q '^clock .*200 ms' || fail "the plan is silent"
expect 125 "$run" --clock=frozen -- true
grep -q "bad value 'frozen' for option '--clock'" err || fail "$(cat err)"
expect 0 "$run" --clock=real -- ./clock
same plain out
echo "PASS: the option's words"
