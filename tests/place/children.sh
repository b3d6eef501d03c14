#!/bin/bash
# What a moved program executes itself: at random addresses in a plain run, which --plan says;
# placed too in a supervised one, whoever executes it in whatever way.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"
# The machine's settings stay while this runs.
exec 9<"$TMP/.." && flock -s 9
build_probe pie probe
build_probe static probe-static

for supervised in '' --seed; do
	"$stablerun" --place=move $supervised --plan=json -- ./probe >plan.json
	/usr/bin/python3 -c '
import json, sys
pins = {pin["name"]: pin["value"] for pin in json.load(open("plan.json"))["pins"]}
print(pins)
wanted = "moved likewise" if sys.argv[1:] else "RANDOM"
sys.exit(not pins["children"].startswith(wanted))' $supervised &&
		echo "PASS: --plan${supervised:+ }$supervised" || {
		echo "FAIL: --plan $supervised"
		failures=$((failures + 1))
	}
done

random() {
	for round in 1 2; do
		./refuse "$stablerun" -- sh -c './probe; :' >output/random.$round || return 1
	done
	[ "$(distinct output/random.*)" -eq 2 ]
}
check "not supervised: random" random

cat >ways.c <<'END'
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>
extern char **environ;
static char *const command[] = {"./probe", NULL};
static void *execute(void *unused)
{
	execv(command[0], command);
	return unused;
}
static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t id;
	const char *way = argc > 1 ? argv[1] : "";
	pid_t child = 0;
	int status = 1;

	if (!strcmp(way, "exec"))
		execute(NULL);
	if (!strcmp(way, "thread")) {
		/* The kernel ends all other threads and gives it the process's number. */
		pthread_create(&id, NULL, sleep_on, NULL);
		pthread_create(&id, NULL, execute, NULL);
		sleep_on(NULL);
	}
	if (!strcmp(way, "failed")) {
		execl("./nothing", "nothing", NULL);
		execl("/", "/", NULL);
		execute(NULL);
	}
	if (!strcmp(way, "execveat")) {
		int file = open("./probe", O_PATH | O_CLOEXEC);
		syscall(SYS_execveat, file, "", command, environ, AT_EMPTY_PATH);
	}
	if (!strcmp(way, "vfork")) {
		child = vfork();
		if (child == 0)
			_exit(execv(command[0], command));
	}
	if (!strcmp(way, "spawn"))
		posix_spawn(&child, command[0], NULL, NULL, command, environ);
	if (!strcmp(way, "fork")) {
		child = fork();
		if (child == 0)
			execute(NULL);
	}
	if (waitpid(child, &status, 0) != child)
		perror("waitpid");
	return WEXITSTATUS(status);
}
END
gcc -D_GNU_SOURCE -pthread -o ways ways.c
places() { grep -v -e local -e argv -e envp; }
./refuse "$stablerun" --seed -- ./probe | places >output/reference
executed() {
	for round in 1 2 3; do
		./refuse "$stablerun" --seed -- ./ways "$1" >output/out 2>output/err || {
			cat output/out output/err
			return 1
		}
		[ ! -s output/err ] && places <output/out | diff output/reference - || return 1
		# The stack as well, from run to run.
		cp output/out "output/$1.$round"
	done
	[ "$(distinct output/"$1".*)" -eq 1 ]
}
for way in exec thread failed execveat vfork spawn fork; do
	check "$way" executed $way
done
chmod 755 ways probe
nobody() {
	as_nobody ./refuse "$stablerun" --seed -- ./ways fork | places | diff output/reference -
}
check "fork, as nobody" nobody

# Of those that cannot be placed a run has many (a debugger's, a limited shell's): they run.
limited() {
	./refuse "$stablerun" --seed -- sh -c 'ulimit -v 4000000; ./probe; ./probe' \
		>output/out 2>output/err || { cat output/err; return 1; }
	[ "$(wc -l <output/out)" -eq 30 ] && [ ! -s output/err ]
}
check "under an address space limit" limited
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	traced() {
		./refuse "$stablerun" --seed -- strace -f -o /dev/null sh -c './probe; :' \
			>output/out 2>output/err || { cat output/err; return 1; }
		[ "$(wc -l <output/out)" -eq 15 ]
	}
	check "under strace" traced
fi
# A kept run's supervisor traces the program for its end's sake, and lets go for this.
kept() {
	for round in 1 2 3; do
		rm -rf kept.run
		./refuse "$stablerun" -o kept.run -- \
			sh -c 'exec sh -c "exec ./ways failed"' >output/kept.$round || return 1
		grep '"place": "move"' kept.run/run.json || return 1
	done
	[ "$(distinct output/kept.*)" -eq 1 ] &&
		places <output/kept.1 | diff output/reference - || return 1
	./refuse "$stablerun" -f -o kept.run -- sh -c 'exec sh -c "kill -SEGV \$\$"'
	[ $? -eq 139 ] && grep '"signal": 11' kept.run/run.json
}
check "a kept run that executes another program" kept
many() {
	# At once and after each other.
	./refuse "$stablerun" --seed -- sh -c '
		for i in $(seq 10); do
			for j in 1 2 3 4 5 6; do ./probe-static >output/many.$i.$j & done
			wait
		done' || return 1
	for file in output/many.*; do
		places <"$file" | sha256sum
	done | sort | uniq -c >output/counts
	cat output/counts
	[ "$(wc -l <output/counts)" -eq 1 ] && grep ' 60 ' output/counts
}
check "sixty children" many
lasting() {
	"$stablerun" --place=move --seed -- sh -c './probe >/dev/null; echo $$ >pid; exec sleep 60' &
	pid=$!
	for try in $(seq 2000); do
		grep -q sleep /proc/$pid/comm 2>/dev/null && [ -s pid ] && break
		sleep 0.02
	done
	sleep 0.2
	grep '^TracerPid:.0$' /proc/$pid/status || { kill -9 $pid; return 1; }
	kill $pid
	wait $pid
	[ $? -eq 143 ]
}
check "no tracer is left" lasting
finish
