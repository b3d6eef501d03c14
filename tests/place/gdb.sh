#!/bin/bash
# `stablerun gdb` where personality is refused: the program is started, placed and held, and
# gdb comes before its first instruction; --hold by itself.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"
need gdb gdb
build_probe pie probe
cat >program.c <<'END'
#include <stdio.h>
static int twice(int x)
{
	int local = 2 * x;
	printf("%p %d\n", (void *)&local, local);
	return local;
}
int main(void)
{
	return twice(21) - 35;
}
END
gcc -g -O0 -o program program.c
./refuse "$stablerun" -- ./program >plain && fail "no status"
# The launcher finds its extension beside itself.
stablerun=$BUILD/stablerun

debug() {
	cat >commands <<-'END'
		set debuginfod enabled off
		set confirm off
		set pagination off
		break twice
		continue
		next
		print &local
		continue
	END
	timeout 300 ./refuse "$stablerun" gdb "$@" <commands >gdb.log 2>&1
	cat gdb.log
	grep -q 'Breakpoint [12], twice (x=21)' gdb.log || return 1
	! grep -q 'Program received signal' gdb.log &&
		grep -q "= (int \*) $(cut -d' ' -f1 plain)" gdb.log &&
		grep -qx "\((gdb) \)*$(cat plain)" gdb.log && grep -q 'exited with code 07' gdb.log
}
check "gdb -- COMMAND" debug -- ./program
./refuse "$stablerun" -o kept -- ./program >again || true
same plain again
check "gdb RUN" debug kept
run_agrees() { grep 'at the first stop: [0-9]* addresses compared, all as in the run' gdb.log; }
check "gdb RUN, its addresses" run_agrees

held() {
	./refuse "$stablerun" "$@" --hold -- ./probe >held.out &
	pid=$!
	for try in $(seq 2000); do
		read -r state < <(sed 's/.*) //; s/ .*//' /proc/$pid/stat)
		[ "$state" = T ] && [ "$(cat /proc/$pid/comm)" = probe ] && break
		sleep 0.02
	done
	[ "$state" = T ] && [ ! -s held.out ] || return 1
	# Nobody has executed anything: no libc is there yet.
	! grep libc /proc/$pid/maps || return 1
	kill -CONT $pid
	wait $pid || return 1
	[ "$(wc -l <held.out)" -eq 15 ]
}
agrees() { ./refuse "$stablerun" -- ./probe | diff held.out -; }
check "--hold" held
check "--hold, addresses" agrees
check "--hold --place=off" held --place=off
cannot_hold() {
	./refuse ptrace "$stablerun" --hold -- ./probe >out 2>err
	[ $? -eq 125 ] && [ ! -s out ] && grep '^stablerun: cannot hold the program' err
}
check "--hold, ptrace refused" cannot_hold
finish
