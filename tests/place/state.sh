#!/bin/bash
# But for its addresses a moved program is what it would be: everything that /proc tells of
# it, its descriptors, limits and signals, its memory, its core file; and nothing is left of
# the helper.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"

cat >state.py <<'END'
import os, re, resource, signal, struct
def show(name, value):
    print(f"{name}: {value!r}")
for name in sorted(os.listdir("/proc/self/fd")):
    try:
        show("fd " + name, re.sub(r"\\d+", "N", os.readlink("/proc/self/fd/" + name)))
    except OSError:
        pass
skipped = ("Pid", "Tgid", "NSpid", "NStgid", "Vm", "Rss", "voluntary", "nonvoluntary",
    "NSpgid", "x86_", "PPid", "HugetlbPages", "SigQ")
for line in open("/proc/self/status"):
    if not line.startswith(skipped):
        print(line.strip())
for name in ("cmdline", "comm", "environ", "limits", "cgroup", "oom_score_adj",
        "coredump_filter", "loginuid", "sessionid", "personality", "wchan"):
    try:
        show(name, open("/proc/self/" + name, "rb").read())
    except OSError as error:
        show(name, error.errno)
show("exe", os.readlink("/proc/self/exe"))
show("cwd", os.readlink("/proc/self/cwd"))
show("group", os.getpgid(0) - os.getpid() == 0)
show("children", open(f"/proc/self/task/{os.getpid()}/children").read())
show("niceness", os.nice(0))
show("affinity", sorted(os.sched_getaffinity(0)))
show("scheduler", os.sched_getscheduler(0))
for number in range(1, 65):
    try:
        show(f"handler {number}", signal.getsignal(number))
    except ValueError:
        pass
auxv = struct.iter_unpack("QQ", open("/proc/self/auxv", "rb").read())
# Addresses: PHDR, BASE, ENTRY, PLATFORM, RANDOM, EXECFN, SYSINFO_EHDR.
for kind, value in auxv:
    show(f"auxv {kind}", value if kind not in (3, 7, 9, 15, 25, 31, 33) else bool(value))
flags = {}
mapping = ""
for line in open("/proc/self/smaps"):
    if re.match("[0-9a-f]+-", line):
        start, end = (int(word, 16) for word in line.split()[0].split("-"))
        words = line.split(None, 5)
        mapping = (f"{end - start:#x} {words[1]} {words[2]} " +
                   (words[5].strip() if len(words) > 5 else ""))
        empty = end - start > 1 << 36
    elif line.startswith("VmFlags:") and not empty and "[heap]" not in mapping:
        show("map " + mapping, line.split()[1:])
END
states() {
	ulimit -n 1000
	"$stablerun" --place=personality -- /usr/bin/python3 state.py >output/plain || return 1
	"$stablerun" --place=move -- /usr/bin/python3 state.py >output/moved || return 1
	# The personality itself is not what was refused.
	diff <(grep -v '^personality' output/plain) <(grep -v '^personality' output/moved)
	[ "$(wc -l <output/plain)" -gt 150 ]
}
check "what /proc says" states

status() {
	"$stablerun" --place=move -- sh -c 'exit 42'
	[ $? -eq 42 ] || return 1
	"$stablerun" --place=move -- sh -c 'kill -SEGV $$'
	[ $? -eq 139 ] || return 1
	"$stablerun" --place=move -- sh -c 'kill -KILL $$'
	[ $? -eq 137 ]
}
check "exit status" status

# Wait for anything: there must be nothing.
cat >orphan.c <<'END'
#include <errno.h>
#include <sys/wait.h>
int main(void)
{
	return !(wait(0) < 0 && errno == ECHILD);
}
END
gcc -o orphan orphan.c
check "no child of ours" "$stablerun" --place=move -- ./orphan

# Its code is written over for a moment while the program is moved.
cat >vdso.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
int main(void)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	char line[512];
	unsigned long start, end = 0;
	FILE *maps = fopen("/proc/self/smaps", "r");
	int inside = 0;
	while (fgets(line, sizeof(line), maps)) {
		if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			inside = 1;
		if (inside && !strncmp(line, "Anonymous:", 10))
			break;
	}
	/* Whether a page of it is a copy. */
	fprintf(stderr, "%s", line);
	fwrite(vdso, 1, end - start, stdout);
	return start != (unsigned long)vdso;
}
END
gcc -O1 -o vdso vdso.c
vdso() {
	"$stablerun" --place=personality -- ./vdso >output/vdso 2>output/copied || return 1
	[ "$(wc -c <output/vdso)" -ge 4096 ] || return 1
	for refusal in "" mmap-wx mprotect-x; do
		# shellcheck disable=SC2086 # a word or none
		./refuse $refusal "$stablerun" -- ./vdso 2>output/err | cmp - output/vdso || return 1
		diff output/err output/copied || return 1
	done
}
check "the vdso" vdso

# Shebangs are the kernel's own way of executing two files.
shebang() {
	printf '#!%s -O\nimport sys\nprint(sys.argv)\n' /usr/bin/python3 >script
	chmod 755 script
	./script a 'b c' >output/plain || return 1
	"$stablerun" --place=move -- ./script a 'b c' | diff output/plain -
}
check "a script" shebang

# A hundred thousand arguments: the stack is longer than a new one's usual 128 KiB.
long() {
	seq 100000 >numbers
	for place in personality move; do
		# shellcheck disable=SC2046
		"$stablerun" --place=$place -- /usr/bin/python3 -c '
import hashlib, os, sys
print(len(sys.argv), hashlib.md5(repr(sys.argv).encode()).hexdigest())
print(hashlib.md5(open("/proc/self/cmdline", "rb").read()).hexdigest())
print([line for line in open("/proc/self/maps") if "stack" in line])' \
			$(cat numbers) >output/$place 2>/dev/null || return 1
	done
	diff output/personality output/move
}
check "100000 arguments" long

# Resident memory, at the end and at most, over several runs as it varies by itself.
cat >rss.py <<'END'
import os, statistics, sys
def peak(place):
    pid = os.fork()
    if pid == 0:
        os.execv(sys.argv[1], [sys.argv[1], "--place=" + place, "--"] + sys.argv[2:])
    return os.wait4(pid, 0)[2].ru_maxrss
runs = {place: [peak(place) for _ in range(15)] for place in ("personality", "move")}
plain, moved = (statistics.median(runs[place]) for place in ("personality", "move"))
print(plain, moved, runs)
# A few pages of page tables are not counted; noise of the page cache's fault-around is.
sys.exit(abs(moved - plain) > 0.02 * plain + 64)
END
check "resident memory" /usr/bin/python3 rss.py "$stablerun" /bin/true
check "resident memory of python" /usr/bin/python3 rss.py "$stablerun" \
	/usr/bin/python3 -c 'import json'

# Core files go where core_pattern says; gdb writes the same by the same rules.
printf 'int main(void) { for (;;) __builtin_ia32_pause(); }' >loop.c
gcc -g -o loop loop.c
core_size() {
	"$stablerun" --place="$1" -- ./loop &
	pid=$!
	for try in $(seq 1000); do
		grep -q /loop "/proc/$pid/maps" && grep -q heap "/proc/$pid/status" && break
		grep -q libc "/proc/$pid/maps" && break
		sleep 0.05
	done
	sleep 0.2
	gcore -o "core.$1" $pid >gcore.log 2>&1 || cat gcore.log
	kill -9 $pid
	wait $pid 2>/dev/null
	stat -c '%s' "core.$1.$pid"
}
cores() {
	plain=$(core_size personality)
	moved=$(core_size move)
	echo "gcore: plain $plain, moved $moved"
	[ $((moved - plain)) -le 65536 ] && [ "$moved" -gt 10000 ]
}
if command -v gcore >/dev/null; then
	check "core files by gcore" cores
else
	echo "SKIP: core files by gcore: not installed (package gdb)"
fi
kernel_core() {
	rm -f core core.*
	(ulimit -c unlimited && "$stablerun" --place="$1" -- sh -c 'kill -ABRT $$') 2>/dev/null
	cat core* 2>/dev/null | wc -c
}
case $(cat /proc/sys/kernel/core_pattern) in
core | core.%p)
	kernel_cores() {
		plain=$(kernel_core personality)
		moved=$(kernel_core move)
		echo "kernel: plain $plain, moved $moved"
		[ "$plain" -gt 0 ] && [ $((moved - plain)) -le 65536 ]
	}
	check "core files by the kernel" kernel_cores
	;;
*) echo "SKIP: core files by the kernel: core_pattern sends them elsewhere" ;;
esac

# Sanitizers look at their address space more closely than anybody.
cat >sane.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int shared;
static void *add(void *lock)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(lock);
		shared++;
		pthread_mutex_unlock(lock);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_t ids[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, add, &lock);
	for (int i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	printf("%d\n", shared);
	if (argc > 1) {
		int *volatile freed = malloc(sizeof(int));
		if (argc == 2)
			free(freed);
		if (*freed)
			printf("set\n");
		return 0;
	}
	(void)argv;
	return 0;
}
END
# sanitized COMPILER SANITIZER REPORT ARG...: it runs, and with ARG finds what is wrong.
sanitized() {
	[ "$(./refuse "$stablerun" -- ./sane)" = 4000 ] || return 1
	[ -n "$3" ] || return 0
	./refuse "$stablerun" -- ./sane "${@:4}" >output/out 2>&1
	[ $? -ne 0 ] && grep -e "$3" output/out
}
# Settings of the machine that they do not bear are changed by machine.sh.
exec 9<"$TMP/.." && flock -s 9
while read -r compiler sanitizer report arguments; do
	case="$compiler -fsanitize=$sanitizer"
	if ! $compiler -g -pthread -fsanitize="$sanitizer" -o sane sane.c 2>output/err; then
		echo "SKIP: $case: $(head -n 1 output/err)"
		continue
	fi
	# shellcheck disable=SC2086 # words, or none
	check "$case" sanitized $compiler $sanitizer "$report" $arguments
done <<'END'
gcc address heap-use-after-free bad
gcc undefined
gcc thread heap-use-after-free bad
clang address heap-use-after-free bad
clang undefined
clang thread heap-use-after-free bad
clang memory use-of-uninitialized-value not freed
END
finish
