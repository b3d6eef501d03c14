#!/bin/bash
# What a system call that fails comes to: a program that runs all the same, or one line that
# says why it does not; never a silent difference, never a crash.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"
gcc -O1 -D_GNU_SOURCE -o refuse "$SRC/tests/launcher/refuse.c"
build_probe pie probe
cp "$stablerun" stablerun
stablerun=$TMP/stablerun

# personality(135) with EPERM is what a container's default profile does.
refused_off() {
	./refuse --only 135:1 "$stablerun" --place=personality -- ./probe >out 2>err
	[ $? -eq 125 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
		grep '^stablerun: cannot fix addresses: personality.*seccomp' err
}
check "personality refused, --place=personality" refused_off
inherited() {
	"$stablerun" -- ./probe >usual
	setarch -R ./refuse --only 135:1 "$stablerun" -- ./probe >out 2>err && [ ! -s err ] &&
		diff usual out
}
check "personality refused, but inherited" inherited
ignored() {
	# A filter that answers success and does nothing: only reading back tells.
	./refuse --only 135:0 "$stablerun" --place=personality -- ./probe >out 2>err
	[ $? -eq 125 ] && [ ! -s out ] && grep 'reads back as' err
}
check "personality answered, but ignored" ignored
as_nobody_refused() {
	chmod 755 refuse probe
	as_nobody ./refuse --only 135:1 "$stablerun" --place=personality -- ./probe >out 2>err
	[ $? -eq 125 ]
}
check "personality refused, as nobody" as_nobody_refused

# Every system call of a plain launch fails, one kind at a time.
runs() {
	./refuse --only "$1" "$stablerun" -- ./probe >out 2>err
	status=$?
	echo "status $status"
	cat err
	case $status in
	0) [ "$(wc -l <out)" -eq 15 ] ;;
	12[567]) [ ! -s out ] && [ "$(grep -c '^stablerun: ' err)" -eq 1 ] ;;
	*) false ;;
	esac
}
# getcwd, prctl, geteuid, access, faccessat, prlimit64, getrandom, readlink, madvise, open
# and openat as far as the dynamic linker of the probe does not need them, sched_setaffinity.
for call in 79:2 79:13 157:22 107:1 302:1 302:22 318:38 89:2 28:22 28:12 203:1; do
	check "system call ${call%:*} fails with ${call#*:}" runs "$call"
done

if ! is_static "$stablerun"; then
	echo "SKIP: counted system calls: a sanitizer's own come in between"
	finish
fi
need strace strace
# The nth call of a kind: strace counts what a filter cannot. Only what the launcher itself
# calls is injected, which ends with its execve.
injected() {
	strace -qq -o trace -e inject="$1" "$stablerun" "${@:3}" -- ./probe >out 2>err
	status=$?
	echo "status $status"
	cat err
	[ $status -eq "$2" ] && { [ "$status" -eq 0 ] || [ "$(wc -l <err)" -eq 1 ]; }
}
strace -qq -o trace /bin/true 2>err || skip "strace cannot trace here: $(cat err)"
for error in ENOENT:127 EACCES:126 ENOEXEC:126 E2BIG:126 ENOMEM:126 EAGAIN:126 ETXTBSY:126 \
	EPERM:126 ELOOP:126 EINVAL:126 ELIBBAD:126 EIO:126 EMFILE:126; do
	status=${error#*:}
	[ "$error" != ENOENT:127 ] || status=126 # the file is there
	check "execve fails with ${error%:*}" injected \
		"execve:error=${error%:*}:when=1" $status
done
check "sched_setaffinity fails" injected sched_setaffinity:error=EPERM:when=1 125 --cpu=0
check "stat is interrupted by a missing file" injected newfstatat:error=ENOENT:when=1 127
check "reading the head fails" injected pread64:error=EIO:when=1 0
check "opening the head fails" injected openat:error=EACCES:when=1 0
printf '#!/bin/sh\necho ran "$@"\n' >script
chmod 755 script
head_unread() {
	strace -qq -o trace -e inject=openat:error=EMFILE:when=1 "$stablerun" -- ./script a b \
		>out 2>err || return 1
	cat out err
	# The kernel resolves the line, and that is said.
	[ "$(cat out)" = "ran a b" ] &&
		grep "warning: cannot read './script': Too many open files" err
}
check "no descriptors left" head_unread
check "reading the head is interrupted" injected pread64:error=EINTR:when=1 0
check "the limit cannot be set" injected prlimit64:error=EPERM:when=4 125
finish
