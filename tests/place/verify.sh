#!/bin/bash
# `stablerun verify` where personality is refused: nothing moves in any of its contexts, and
# what is said to move does.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"
# The machine's settings stay while this runs.
exec 9<"$TMP/.." && flock -s 9
stablerun=$BUILD/stablerun
need gdb gdb
need perf linux-perf
cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	char *volatile memory = malloc(1 << 20);
	for (volatile int i = 0; i < 10000000; i++)
		;
	return memory == NULL;
}
END
gcc -o program program.c

verified() {
	timeout 500 ./refuse "$stablerun" verify -n 2 "$@" >output/verdict 2>&1
	status=$?
	cat output/verdict
	[ $status -eq 0 ] && grep 'in 8 runs (plain 2, env 2, perf 2, gdb 2)' output/verdict &&
		grep 'stand still' output/verdict
}
random() {
	timeout 500 ./refuse ptrace "$stablerun" verify -n 2 --contexts=plain -- ./program \
		>output/verdict 2>&1
	[ $? -eq 1 ] && grep 'moved' output/verdict
}
check "a C program" verified -- ./program
check "a C program at random addresses" random
if command -v luajit >/dev/null; then
	cat >hot.lua <<-'END'
		local sum = 0
		for i = 1, 2e7 do sum = sum + i % 7 end
		print(sum)
	END
	check "luajit" verified -- luajit hot.lua
fi
finish
