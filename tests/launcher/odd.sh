#!/bin/bash
# Places and sizes that are out of the ordinary.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"
cp "$stablerun" stablerun
stablerun=$TMP/stablerun
build_probe pie probe

stack_of() { awk '$1 == "local" { print $2 }'; }
usual=$("$stablerun" ./probe | stack_of)

# A big environment or argument list: as much as the kernel takes without us, padded while
# that is possible.
cat >sizes.py <<'END'
import os, resource, subprocess, sys
stablerun, hard, variables, size = sys.argv[1], *map(int, sys.argv[2:5])
wanted = sys.argv[5]
limit = resource.RLIM_INFINITY if hard == 0 else hard << 20
env = {f"V{i}": "x" * size for i in range(variables)}
def limits():
    resource.setrlimit(resource.RLIMIT_STACK, (limit, limit))
def run(prefix, command):
    try:
        done = subprocess.run(prefix + command, env=env, preexec_fn=limits,
            capture_output=True, text=True)
    except OSError as error:
        return str(error), ""
    return done.returncode, done.stderr
bare = run([], ["/bin/true"])
mine = run([stablerun, "--"], ["/bin/true"])
print(bare, mine)
ok = {"same": bare[0] == mine[0] == 0 and not mine[1],
      "warned": bare[0] == mine[0] == 0 and mine[1].count("\n") == mine[1].count("warning: ") > 0,}[wanted]
sys.exit(not ok)
END
sizes() { /usr/bin/python3 sizes.py "$stablerun" "$@"; }
check "1 MB in ten variables" sizes 8 10 100000 same
check "1 MB in 100000 variables" sizes 8 60000 8 same
check "2 MB, more stack" sizes 0 20 103000 warned
check "2 MB, no more stack" sizes 8 20 103000 warned
check "5 MB" sizes 0 50 100000 warned
check "5.9 MB" sizes 0 59 100000 warned
check "small hard limit" sizes 1 3 10 warned
cat >argmax.py <<'END'
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_STACK, (8 << 20, 8 << 20))
low, high = 0, 4 << 20
def works(total):
    count, rest = divmod(total, 100008)
    arguments = ["x" * 99999] * count + ["x" * rest]
    try:
        return subprocess.run(["/bin/true", *arguments], env={}).returncode == 0
    except OSError:
        return False
while high - low > 1:
    middle = (low + high) // 2
    low, high = (middle, high) if works(middle) else (low, middle)
count, rest = divmod(low - 300, 100008)
arguments = ["x" * 99999] * count + ["x" * rest]
done = subprocess.run([sys.argv[1], "--", "/bin/true", *arguments], env={}, capture_output=True,
    text=True)
print(low, done)
sys.exit(done.returncode != 0 or "not padded" not in done.stderr)
END
check "arguments at the limit" /usr/bin/python3 argmax.py "$stablerun"

gone() {
	mkdir -p gone && cd gone && rmdir ../gone || return 1
	"$stablerun" -- /bin/true || return 1
	[ "$("$stablerun" -- "$TMP/probe" | stack_of)" = "$usual" ] || return 1
	# PWD would be a lie.
	! PWD=/gone "$stablerun" -- /usr/bin/env | grep '^PWD='
}
check "working directory gone" gone

named() {
	mkdir -p "$1" && cp probe "$1/" || return 1
	[ "$("$stablerun" -- "./$1/probe" | stack_of)" = "$usual" ] &&
		(cd "$1" && "$stablerun" --plan=json -- ./probe | /usr/bin/python3 -c '
import json, sys
sys.exit(json.load(sys.stdin)["exec"] != sys.argv[1])' "$TMP/$1/probe")
}
check "a path with blanks and quotes" named "a b'c\"d"
check "a path with a newline" named $'new\nline'
check "a path with an equals sign" named "a=b"
long=$(printf 'd%.0s' $(seq 200))
check "a path of 4000 bytes" named "$(printf "$long/%.0s" $(seq 18))x"

as_root() { [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; }
if as_root; then
	no_proc() {
		unshare -m sh -c 'mount -t tmpfs none /proc && exec "$0" -- ./probe' \
			"$stablerun" >no-proc || return 1
		"$stablerun" -- ./probe | diff - no-proc
	}
	check "without /proc" no_proc
	noexec() {
		unshare -m sh -c 'mkdir -p mnt && mount -t tmpfs -o noexec none mnt &&
			cp probe mnt/ && "$0" -- mnt/probe' "$stablerun" 2>err
		[ $? -eq 126 ] && grep 'mounted noexec' err
	}
	check "noexec" noexec
else
	echo "SKIP: without /proc, noexec: needs root"
fi

# A program that gains privileges is randomised by the kernel: said, or refused.
if [ "$(id -u)" -eq 0 ]; then
	cp probe setid && chown 65534:65534 setid && chmod 6755 setid
	setid() {
		"$stablerun" -- ./setid 2>err >out || return 1
		grep "addresses are not stable: '.*/setid' has privileges (set-user-ID)" err || return 1
		"$stablerun" --place=personality -- ./setid 2>err >out
		[ $? -eq 125 ] && grep 'cannot fix addresses' err && [ ! -s out ]
	}
	check "set-user-ID program" setid
	no_new_privs() {
		setpriv --no-new-privs "$stablerun" -- ./setid 2>err >out && [ ! -s err ] &&
			[ "$(stack_of <out)" = "$usual" ]
	}
	check "set-user-ID program, no new privileges" no_new_privs
	capable() {
		cp probe capable && setcap cap_net_raw+ep capable || return 1
		as_nobody "$stablerun" -- ./capable 2>err >out || return 1
		grep 'file capabilities' err || return 1
		# Root has them already: the kernel randomises nothing.
		"$stablerun" -- ./capable 2>err >out && [ ! -s err ] &&
			[ "$(stack_of <out)" = "$usual" ]
	}
	if command -v setcap >/dev/null; then
		check "file capabilities" capable
	else
		echo "SKIP: file capabilities: setcap is not installed (package libcap2-bin)"
	fi
	# Itself privileged, it must not obey its caller.
	cp "$stablerun" privileged && chmod 4755 privileged
	privileged() {
		as_nobody ./privileged -- /bin/true 2>err
		[ $? -eq 125 ] && grep 'refusing to run set-user-ID' err || return 1
		as_nobody ./privileged perf -- /bin/true 2>err
		[ $? -eq 125 ] && grep 'refusing to run set-user-ID' err
	}
	check "itself set-user-ID" privileged
else
	echo "SKIP: privileges: needs root"
fi

small_stack() {
	for size in 16 64; do
		rm -rf small
		(ulimit -s $size && "$stablerun" --seed -o small -- /bin/echo ran) >out 2>err || return 1
		[ "$(cat out)" = ran ] && grep "the hard limit on the stack is $((size * 1024)) bytes" err &&
			[ -s small/run.json ] || return 1
	done
}
check "a stack limit of 16 and of 64 KiB" small_stack
unreadable() {
	chmod 711 . && cp probe unreadable && chmod 111 unreadable
	[ "$(as_nobody "$stablerun" -- ./unreadable | stack_of)" = "$usual" ]
}
check "an execute-only program" unreadable
busy() {
	cp probe busy
	exec 9>>busy
	"$stablerun" -- ./busy 2>err
	[ $? -eq 126 ] && grep 'it is open for writing' err
}
check "a program open for writing" busy
finish
