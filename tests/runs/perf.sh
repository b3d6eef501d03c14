#!/bin/bash
# stablerun perf: samples and everything else in the RUN, the program as it would be alone, and
# nothing left behind; where sampling is refused the run is kept all the same.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

want() { "$@" || fail "$*"; }
field() { /usr/bin/python3 -c 'import json, sys
run = json.load(open(sys.argv[1] + "/run.json"))
print(eval(sys.argv[2]))' "$1" "$2"; }

cat >spin.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t stopped;
static void stop(int number)
{
	stopped = number;
}
static __attribute__((noinline)) void spin(double seconds)
{
	struct timespec now;
	double end = 0;
	for (;;) {
		for (volatile int i = 0; i < 100000; i++)
			;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		double at = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
		if (end == 0)
			end = at + seconds;
		if (at > end || stopped)
			return;
	}
}
/* spin SECONDS HOW: how it ends. */
int main(int argc, char **argv)
{
	(void)argc;
	signal(SIGINT, stop);
	if (!strcmp(argv[2], "fork") && fork() == 0) {
		char name[64];
		snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
		FILE *map = fopen(name, "w");
		fprintf(map, "1000 10 child\n");
		fclose(map);
		snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
		fclose(fopen(name, "w"));
		return 0;
	}
	puts("begun");
	fflush(stdout);
	spin(atof(argv[1]));
	printf("stopped by %d\n", (int)stopped);
	fflush(stdout);
	if (!strcmp(argv[2], "kill"))
		raise(SIGKILL);
	if (!strcmp(argv[2], "abort"))
		abort();
	return atoi(argv[2]);
}
END
cc -O1 spin.c -o spin
# Answers perf_event_open as a container's filter does.
cat >refuse.c <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};
	(void)argc;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &program))
		return 99;
	execvp(argv[1], argv + 1);
	return 98;
}
END
cc refuse.c -o refuse
before=$(ls -A /tmp | grep -c '^perf-.*\.map$')

# shellcheck disable=SC2012
leaves_nothing() { want [ "$(ls -A | grep -c '^\.\|^jit-\|perf\.data')" -eq 0 ]; }

can_sample=yes
"$stablerun" perf -o try -- true 2>tried || true
[ -e try/perf.data ] || can_sample=$(cat tried)

samples() {
	expect 7 "$stablerun" perf -o one -- ./spin 0.5 7
	want [ "$(cat out)" = "$(printf 'begun\nstopped by 0')" ]
	want [ "$(field one 'run["exit"]')" = "{'status': 7}" ]
	# perf itself counts them.
	taken=$(perf script -i one/perf.data -F ip,sym 2>/dev/null -G | grep -c .)
	want grep -q ": $taken samples (.*) *, *0 lost\|: $taken samples (.* at 4999 Hz), 0 lost" err
	want [ "$taken" -gt 100 ]
	want [ "$(field one 'run["frequency"]')" = 4999 ]
	# Only the program was sampled: not the launcher, not its helpers.
	want [ "$(perf script -i one/perf.data -F comm 2>/dev/null -G | sort -u | tr -d ' \n')" = spin ]
	spinning=$(perf script -i one/perf.data -F ip,sym 2>/dev/null -G | grep -c spin)
	want [ $((spinning * 10)) -gt $((taken * 9)) ]
	want [ -s one/maps.start ]
	want [ -s one/maps.exit ]
	leaves_nothing
}
signals() {
	expect 137 sh -c '"$1" perf -o killed -- ./spin 0 kill; exit $?' x "$stablerun"
	want [ "$(field killed 'run["exit"]["signal"]')" = 9 ]
	got=0
	(ulimit -c 0 && exec "$stablerun" perf -f -o killed -- ./spin 0 abort) >out 2>err || got=$?
	want [ "$got" -eq 134 ]
	want [ "$(field killed 'run["exit"]["signal"]')" = 6 ]
}
interrupt() {
	# Ctrl-C on a terminal, which is sent to the whole foreground group.
	cat >type.py <<'END'
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
text = b""
while b"begun" not in text:
    text += os.read(terminal, 1000)
os.write(terminal, b"\x03")
try:
    while True:
        text += os.read(terminal, 1000)
except OSError:
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(text.decode(), "status", status)
END
	want /usr/bin/python3 type.py "$stablerun" perf -n 3 -o typed -- ./spin 60 5 >typed.out
	want grep -q "stopped by 2" typed.out
	want grep -q "status 5" typed.out
	want [ "$(field typed 'run["exit"]')" = "{'status': 5}" ]
	want [ -s typed/perf.data ]
	want [ ! -e typed/2 ]
	# Sent to stablerun alone it is for the program.
	"$stablerun" perf -o sent -- ./spin 60 6 >sent.out 2>/dev/null &
	for _ in $(seq 400); do
		! grep -q begun sent.out || break
		sleep 0.05
	done
	kill -INT $!
	got=0
	wait $! || got=$?
	want [ "$got" -eq 6 ]
	want grep -q "stopped by 2" sent.out
}
many() {
	expect 0 "$stablerun" perf -n 3 -F 2000 -o many -- ./spin 0.1 0
	want [ "$(field many 'run["runs"]')" = 3 ]
	sum=0
	for run in many many/2 many/3; do
		want [ "$(field $run 'run["frequency"]')" = 2000 ]
		sum=$((sum + $(perf script -i $run/perf.data -F ip 2>/dev/null -G | grep -c .)))
	done
	want grep -q ": $sum samples" err
	want [ ! -e many/4 ]
	expect 0 "$stablerun" show many
	want grep -q "^samples  *$sum of .* in 3 runs" out
	leaves_nothing
}
tree() {
	expect 0 "$stablerun" perf -o tree -- ./spin 0.2 fork
	want [ "$(ls tree | grep -c '^perf-[0-9]*\.map$')" -eq 1 ]
	want [ "$(ls tree | grep -c '^jit-[0-9]*\.dump$')" -eq 1 ]
	want grep -q child tree/perf-*.map
	leaves_nothing
}
names() {
	expect 0 "$stablerun" perf -- ./spin 0 0
	want [ -e spin.run/run.json ]
	expect 1 "$stablerun" perf -- ./spin 0 1
	want [ "$(field spin.run 'run["exit"]')" = "{'status': 1}" ]
	want [ "$(field spin.run.old 'run["exit"]')" = "{'status': 0}" ]
	expect 2 "$stablerun" perf -- ./spin 0 2
	want [ "$(field spin.run.old 'run["exit"]')" = "{'status': 1}" ]
	expect 125 "$stablerun" perf -o spin.run -- ./spin 0 0
	want grep -q "exists already (-f replaces it)" err
	expect 127 "$stablerun" perf -o none -- ./missing
	want [ ! -e none ]
}
fast() {
	expect 0 "$stablerun" perf -F 20000 -o fast -- ./spin 0 0
	want grep -q "warning: 20000 samples a second slow the program down" err
	expect 125 "$stablerun" perf -F 0 -- true
	want grep -q "bad value '0' for option '-F'" err
}
nobody() {
	mkdir -p theirs && cp spin "$stablerun" theirs/ && chmod 777 theirs && chmod 755 .
	(cd theirs && as_nobody ./stablerun perf -o run -- ./spin 0.3 3 >../out 2>../err) || got=$?
	want [ "$got" -eq 3 ]
	want [ -s theirs/run/perf.data ]
	want grep -q "samples (.*), 0 lost" err
}
refused() {
	expect 4 ./refuse "$stablerun" perf -n 5 -o refused -- ./spin 0 4
	want grep -q "no samples are taken: a seccomp filter, as containers have, refuses" err
	want grep -q "\-\-cap-add=PERFMON" err
	want [ ! -e refused/perf.data ]
	want [ "$(field refused 'run["exit"]')" = "{'status': 4}" ]
	want field refused 'run["no_samples"]' | grep -q seccomp
	expect 0 "$stablerun" show refused
	want grep -q "^samples  *none: a seccomp filter" out
}
no_perf() {
	mkdir -p bare && ln -sf /bin/sh bare/sh
	expect 5 env PATH="$PWD/bare" "$stablerun" perf -o bare.run -- ./spin 0 5
	want grep -q "no samples are taken: perf is not installed (Debian's package: linux-perf)" err
	want [ ! -e bare.run/perf.data ]
	want [ -s bare.run/maps.exit ]
}
disk() {
	mkdir -p disk && mount -t tmpfs -o size=700k tmpfs disk || return 1
	trap 'umount -l disk' EXIT
	expect 9 "$stablerun" perf -F 10000 -o disk/run -- \
		sh -c 'head -c 300000 /dev/zero >disk/filler; ./spin 3 9'
	want grep -q "samples are missing: perf" err
	want [ "$(field disk/run 'run["exit"]')" = "{'status': 9}" ]
	want [ "$(grep -c 'stopped by 0' out)" -eq 1 ]
}
limit() {
	(ulimit -f 100 && expect 2 "$stablerun" perf -F 10000 -o small -- ./spin 1 2)
	want grep -q "stopped by 0" out
	want grep -q "samples are missing: perf\|cannot write run.json" err
}

case_list="samples signals interrupt many tree fast nobody disk limit"
for name in $case_list; do
	if [ "$can_sample" != yes ]; then
		echo "SKIP: $name: $can_sample"
	elif [ $name = disk ] && ! { mount -t tmpfs tmpfs /mnt && umount /mnt; } 2>/dev/null; then
		echo "SKIP: disk: no tmpfs can be mounted here"
	else
		check $name $name
	fi
done
check names names
check refused refused
check no_perf no_perf
[ "$(ls -A /tmp | grep -c '^perf-.*\.map$')" -le "$before" ] || echo "note: other perf maps came to /tmp"
finish
