#!/bin/bash
# --place=load: where ptrace is refused as well the launcher loads the program itself. It has
# the places of --place=move, and is otherwise what execve makes of it, but for what is told.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"
# The machine's settings stay while this runs.
exec 9<"$TMP/.." && flock -s 9
$sanitized && skip "this stablerun is built with AddressSanitizer, which is not to be unloaded"
load() { "$refuse" ptrace "$stablerun" --place=load --rule=none -- "$@"; }
move() { "$stablerun" --place=move --rule=none -- "$@"; }

alike() {
	move "$@" >output/moved 2>output/moved.err
	moved=$?
	for round in 1 2 3; do
		load "$@" >output/loaded 2>output/loaded.err
		[ $? -eq $moved ] && diff output/moved output/loaded || return 1
		# But for what bash says of a death.
		diff <(grep -v 'load.sh: line' output/moved.err) \
			<(grep -v 'load.sh: line' output/loaded.err) || return 1
	done
}
for kind in pie nopie static staticpie musl muslstatic; do
	if ! build_probe $kind probe.$kind; then
		echo "SKIP: $kind: no compiler for it"
		continue
	fi
	check "$kind" alike ./probe.$kind strings
done
gcc -fPIE -pie -O1 -D_GNU_SOURCE -pthread -Wl,-z,max-page-size=0x200000 -o probe.aligned \
	"$SRC/tests/launcher/probe.c"
check "aligned to 2 MiB" alike ./probe.aligned strings
check "all of its maps" alike /bin/cat /proc/self/maps
check "its status" alike sh -c 'exit 42'
check "a death by a signal" alike sh -c 'kill -SEGV $$'
check "an empty environment" alike /usr/bin/env -i /bin/echo x
check "a script" alike sh -c 'printf "#!/bin/sh\necho \$0 \$#\n" >script; chmod 755 script; ./script a'
seq 100000 >numbers
# shellcheck disable=SC2046
check "100000 arguments" alike /usr/bin/python3 -c '
import hashlib, sys
print(len(sys.argv), hashlib.md5(repr(sys.argv).encode()).hexdigest())
print(hashlib.md5(open("/proc/self/cmdline", "rb").read()).hexdigest())
print([line for line in open("/proc/self/maps") if "stack" in line])' $(cat numbers)

small() {
	for place in move load; do
		(ulimit -s 32 && exec "$stablerun" --place=$place --rule=none -- ./probe.pie) \
			>output/small.$place 2>output/err || { cat output/err; return 1; }
	done
	diff output/small.move output/small.load
}
check "a stack of 32 KiB" small

# What /proc tells, and what a libc registers with the kernel.
cat >state.py <<'END'
import os, re, signal, struct, threading
for name in sorted(os.listdir("/proc/self/fd")):
    try:
        print("fd", name, os.readlink("/proc/self/fd/" + name))
    except OSError:
        pass
for line in open("/proc/self/status"):
    if line.startswith(("Name", "Umask", "Tracer", "FDSize", "Groups", "Sig", "Shd", "Cap",
            "NoNew", "Cpus", "Threads", "Dumpable", "CoreDumping", "Speculation")):
        if not line.startswith("SigQ"):
            print(line.strip())
for name in ("cmdline", "comm", "environ", "limits"):
    print(name, open("/proc/self/" + name, "rb").read())
for kind, value in struct.iter_unpack("QQ", open("/proc/self/auxv", "rb").read()):
    print("auxv", kind, value if kind not in (25, 3) else bool(value))
stat = open("/proc/self/stat").read().rsplit(")", 1)[1].split()
# Addresses of code, stack, data, heap, arguments and environment.
print([hex(int(stat[field - 3])) for field in (26, 27, 28, 45, 46, 47, 48, 49, 50, 51)])
def work(results):
    results.append(threading.get_native_id() != os.getpid())
results = []
threads = [threading.Thread(target=work, args=(results,)) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results)
child = os.fork()
if child == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(os.popen("echo child").read())
END
states() {
	exec 2>/dev/null 7<state.py
	move /usr/bin/python3 state.py >output/moved || return 1
	load /usr/bin/python3 state.py >output/loaded || return 1
	diff <(sed 's/output.moved//; /^NoNewPrivs/d; /^Seccomp/d' output/moved) \
		<(sed 's/output.loaded//; /^NoNewPrivs/d; /^Seccomp/d' output/loaded) &&
		[ "$(wc -l <output/loaded)" -gt 50 ]
}
check "what /proc says" states
chmod 755 probe.pie
nobody() {
	as_nobody "$refuse" ptrace "$stablerun" --place=load -- ./probe.pie >output/loaded &&
		move ./probe.pie | diff - output/loaded
}
check "as nobody" nobody
for runtime in "node -e" "java -XX:+PrintFlagsFinal -version" "luajit -e" "php -r" "pypy3 -c"; do
	name=${runtime%% *}
	command -v "$name" >/dev/null || { echo "SKIP: $name: not installed"; continue; }
	case $name in
	node) runs() { [ "$(load node -e 'console.log(6 * 7)')" = 42 ]; } ;;
	# It looks for its libraries by /proc/self/exe, which takes a capability to set.
	java) runs() { load java -version 2>&1 | grep -e "openjdk version" -e libjli.so; } ;;
	luajit) runs() { [ "$(load luajit -e 'print(6 * 7)')" = 42 ]; } ;;
	php) runs() { [ "$(load php -r 'echo 6 * 7;')" = 42 ]; } ;;
	pypy3) runs() { [ "$(load pypy3 -c 'print(6 * 7)')" = 42 ]; } ;;
	esac
	check "$name" runs
done

gcc -O1 -D_GNU_SOURCE -o starter "$SRC/tests/place/starter.c"
gcc -O1 -o waiter "$SRC/tests/place/waiter.c"
signals() {
	"$refuse" ptrace ./starter 15 100 "$stablerun" --place=load -- ./waiter >counts
	cat counts
	[ "$(awk '/^died|^handled/ { sum += $2 } END { print sum }' counts)" -eq 100 ]
}
check "SIGTERM 100 times" signals

# refused TEXT ARGUMENT...: nothing ran, and one line says why.
refused() {
	text=$1
	shift
	"$@" >output/out 2>output/err
	status=$?
	cat output/err
	[ $status -eq 125 ] && [ ! -s output/out ] && [ "$(wc -l <output/err)" -eq 1 ] &&
		grep "^stablerun: cannot .*$text" output/err
}
for option in "-o kept.run" --seed --clock=startup:100 --hold; do
	# shellcheck disable=SC2086 # two words
	check "$option" refused "could be supervised" "$stablerun" --place=load $option -- ./probe.pie
done
check "limited address space" refused "ulimit -v" \
	bash -c 'ulimit -v 4000000; exec "$@"' bash "$stablerun" --place=load -- ./probe.pie
check "mremap refused" refused "cannot be moved" \
	"$refuse" ptrace mremap "$stablerun" --place=load -- ./probe.pie
check "mprotect to executable refused" refused "made executable" \
	"$refuse" ptrace mprotect-x "$stablerun" --place=load -- ./probe.pie
check "PR_SET_MM refused" refused "PR_SET_MM_MAP" \
	"$refuse" ptrace prctl-mm "$stablerun" --place=load -- ./probe.pie
head -c 6000 probe.pie >cut && chmod 755 cut
check "a file that is cut off" refused "cut off" "$stablerun" --place=load --rule=none -- ./cut
gcc -z execstack -o executable "$SRC/tests/launcher/probe.c" -D_GNU_SOURCE -pthread
check "an executable stack" refused "executable stack" "$stablerun" --place=load -- ./executable
if [ "$(id -u)" -eq 0 ]; then
	cp probe.pie setid && chown 65534:65534 setid && chmod 6755 setid
	check "set-user-ID" refused "set-user-ID" "$stablerun" --place=load -- ./setid
	cp probe.pie unreadable && chmod 711 unreadable
	check "execute-only" refused "execute-only" \
		as_nobody "$stablerun" --place=load -- ./unreadable
	if unshare -m true 2>/dev/null; then
		noexec() {
			unshare -m sh -c 'mount -t tmpfs -o noexec none /mnt && cp "$1" /mnt/x &&
				exec "$2" --place=load -- /mnt/x' sh ./probe.pie "$stablerun"
		}
		check_noexec() {
			noexec >output/out 2>output/err
			[ $? -ge 125 ] && [ ! -s output/out ] && grep '^stablerun: cannot' output/err
		}
		check "a file system without execution" check_noexec
	fi
fi
plan() {
	"$stablerun" --place=load --plan -- ./probe.pie >plan
	cat plan
	grep 'loaded at fixed places without execve' plan && grep '/proc/PID/exe names' plan
}
check "--plan tells the cost" plan
finish
