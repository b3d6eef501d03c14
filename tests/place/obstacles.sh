#!/bin/bash
# Whatever stands against moving a program: it runs all the same with one warning, or with
# --place=move is refused with one line and status 125; never half of it.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"
build_probe pie probe
"$stablerun" --place=move -- ./probe >output/reference

# warned TEXT COMMAND...: the program ran to its end, somewhere, after one line with TEXT.
warned() {
	text=$1
	shift
	"$@" >output/out 2>output/err
	status=$?
	echo "status $status"
	cat output/err
	[ $status -eq 0 ] && [ "$(wc -l <output/out)" -eq 15 ] &&
		[ "$(wc -l <output/err)" -eq 1 ] && grep "^stablerun: warning: .*$text" output/err
}

# refused TEXT COMMAND...: nothing ran.
refused() {
	text=$1
	shift
	"$@" >output/out 2>output/err
	status=$?
	echo "status $status"
	cat output/err
	[ $status -eq 125 ] && [ ! -s output/out ] && [ "$(wc -l <output/err)" -eq 1 ] &&
		grep "^stablerun: cannot fix addresses: .*$text" output/err
}

# placed COMMAND...: at the usual places.
placed() {
	"$@" >output/out 2>output/err || { cat output/err; return 1; }
	diff output/reference output/out && [ ! -s output/err ]
}

check "ptrace refused" warned "traces it: Operation not permitted" \
	./refuse ptrace "$stablerun" -- ./probe
check "ptrace refused, --place=move" refused "traces it: Operation not permitted" \
	./refuse ptrace "$stablerun" --place=move -- ./probe
check "mremap refused" warned "cannot move a mapping: Operation not permitted" \
	./refuse mremap "$stablerun" -- ./probe
check "mremap refused, --place=move" refused "cannot move a mapping: Operation not permitted" \
	./refuse mremap "$stablerun" --place=move -- ./probe
check "PR_SET_MM refused" warned "PR_SET_MM_MAP" ./refuse prctl-mm "$stablerun" -- ./probe
check "PR_SET_MM refused, --place=move" refused "PR_SET_MM_MAP" \
	./refuse prctl-mm "$stablerun" --place=move -- ./probe

# ptrace's own way into memory.
check "pwrite refused" placed ./refuse pwrite "$stablerun" -- ./probe
check "pwrite refused, a kept run" placed ./refuse pwrite "$stablerun" -f -o pwrite.run -- ./probe

# Without the quick way in (memory that is writable and executable), without the quick way out
# (an instruction of the program's that makes a system call and returns), and where memory
# cannot be made executable, of which perf would be told.
check "writable code refused" placed ./refuse mmap-wx "$stablerun" -- ./probe
check "writable code refused, a kept run" placed \
	./refuse mmap-wx "$stablerun" -f -o code.run -- ./probe
check "mprotect to executable refused" placed ./refuse mprotect-x "$stablerun" -- ./probe
check "both refused" placed ./refuse mmap-wx mprotect-x "$stablerun" -- ./probe
cat >mdwe.py <<'END'
import ctypes, os, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
END
if /usr/bin/python3 mdwe.py /bin/true; then
	check "PR_SET_MDWE" placed \
		./refuse /usr/bin/python3 mdwe.py "$stablerun" -- ./probe
else
	echo "SKIP: PR_SET_MDWE: this kernel has it not"
fi
bare() {
	cat >bare.s <<-'END'
		.globl _start
		_start:	mov %rsp, %rbx
		push %rbx
		mov $1, %eax
		mov $1, %edi
		mov %rsp, %rsi
		mov $8, %edx
		syscall
		xor %edi, %edi
		mov $60, %eax
		syscall
	END
	gcc -nostdlib -static -no-pie -o bare bare.s || return 1
	"$stablerun" --place=personality -- ./bare >output/bare || return 1
	[ "$(wc -c <output/bare)" -eq 8 ] || return 1
	for refusal in "" mmap-wx mprotect-x; do
		# shellcheck disable=SC2086 # a word or none
		./refuse $refusal "$stablerun" -- ./bare | cmp - output/bare || return 1
	done
}
check "a program of ten instructions" bare

# A kernel that has sealed the vdso refuses to move the first of its mappings: all but they
# are in place.
sealed() {
	vvar=$("$stablerun" --place=move -- cat /proc/self/maps |
		sed -n '/\[vvar\]/s/-.*//p')
	for round in 1 2 3 4 5; do
		./refuse mremap-to=0x"$vvar" "$stablerun" -- ./probe >output/out 2>output/err || return 1
		grep 'warning: the kernel has sealed the vdso' output/err || return 1
		diff <(grep -v vdso output/reference) <(grep -v vdso output/out) || return 1
		grep '^vdso ' output/out >>output/vdsos
	done
	# What is left out above is left out for a reason.
	[ "$(sort -u output/vdsos | wc -l)" -gt 1 ]
}
check "sealed vdso" sealed

limited() { (ulimit -v 4000000 && exec "$@"); }
if $sanitized; then
	echo "SKIP: limits, /proc: this stablerun is built with AddressSanitizer"
else
	check "address space limited" warned "ulimit -v" limited ./refuse "$stablerun" -- ./probe
	check "address space limited, --place=move" refused "ulimit -v" \
		limited "$stablerun" --place=move -- ./probe

	stack() { (ulimit -s "$1" && shift && exec "$@"); }
	for limit in 16 24 64 100 1024; do
		tiny() {
			# As far as it runs without us. The pad does not fit, so that the stack is
			# elsewhere, but the same each time.
			(ulimit -s $limit && ./probe) >/dev/null || return 0
			for round in 1 2 3; do
				stack $limit "$stablerun" --place=move -- ./probe >output/tiny.$round \
					2>output/err || { cat output/err; return 1; }
				grep "hard limit on the stack is $((limit << 10)) bytes" output/err ||
					return 1
			done
			[ "$(distinct output/tiny.*)" -eq 1 ] || return 1
			diff <(grep -v -e local -e argv -e envp -e thread output/reference) \
				<(grep -v -e local -e argv -e envp -e thread output/tiny.1)
		}
		check "a stack of $limit KiB" tiny
	done
	check "data limited" placed bash -c \
		'ulimit -d 100000; exec "$0" --place=move -- ./probe' "$stablerun"
fi

not_ours() {
	printf 'int main(void) { return 0; }' >foreign.c
	gcc -m32 -o foreign foreign.c 2>/dev/null || {
		# No 32-bit libc: a static program of two instructions.
		printf '.globl _start\n_start: mov $1, %%eax\nxor %%ebx, %%ebx\nint $0x80\n' \
			>foreign.s
		as --32 -o foreign.o foreign.s && ld -m elf_i386 -o foreign foreign.o ||
			return 1
	}
	./foreign || { echo "not run by this kernel"; return 0; }
	./refuse "$stablerun" -- ./foreign 2>output/err || return 1
	grep 'addresses are not stable: .*no 64-bit x86 program' output/err
}
check "a 32-bit program" not_ours

if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	check "traced by strace" warned "a debugger or tracer is attached" \
		./refuse strace -o /dev/null "$stablerun" -- ./probe
	check "traced by strace, --place=move" refused "a debugger or tracer is attached" \
		strace -o /dev/null "$stablerun" --place=move -- ./probe
	check "strace -f below" placed "$stablerun" --place=move -- \
		bash -c 'strace -f -o /dev/null true; exec "$0" --place=move -- ./probe' \
		"$stablerun"
else
	echo "SKIP: strace: not installed, or cannot trace here"
fi
if command -v gdb >/dev/null; then
	in_gdb() {
		gdb -q -nx -batch -iex 'set debuginfod enabled off' \
			-ex "set exec-wrapper $stablerun --place=$1 --" \
			-ex run --args ./probe >output/gdb 2>&1
		cat output/gdb
		grep -q "$2" output/gdb
	}
	check "traced by gdb, --place=move" in_gdb move "a debugger or tracer is attached"
fi

if [ "$(id -u)" -eq 0 ]; then
	chmod 755 probe
	cp probe setid && chown 65534:65534 setid && chmod 6755 setid
	check "set-user-ID" warned "has privileges (set-user-ID)" \
		"$stablerun" --place=auto -- ./setid
	check "set-user-ID, --place=move" refused "has privileges (set-user-ID)" \
		"$stablerun" --place=move -- ./setid
	check "set-user-ID, no new privileges" placed \
		setpriv --no-new-privs "$stablerun" --place=move -- ./setid
	if command -v setcap >/dev/null; then
		cp probe capable && setcap cap_net_raw+ep capable
		check "file capabilities" warned "file capabilities" \
			as_nobody "$stablerun" -- ./capable
		check "file capabilities, --place=move" refused "file capabilities" \
			as_nobody "$stablerun" --place=move -- ./capable
	else
		echo "SKIP: file capabilities: setcap is not installed (package libcap2-bin)"
	fi
	cp probe unreadable && chmod 711 unreadable
	check "execute-only" warned "execute-only" \
		as_nobody ./refuse "$stablerun" -- ./unreadable
	check "execute-only, --place=move" refused "execute-only" \
		as_nobody "$stablerun" --place=move -- ./unreadable
	if unshare -m true 2>/dev/null; then
		without_proc() {
			unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"
		}
		$sanitized || check "without /proc" warned "/proc is not mounted" \
			without_proc ./refuse "$stablerun" -- ./probe
		$sanitized || check "without /proc, --place=move" refused "/proc is not mounted" \
			without_proc "$stablerun" --place=move -- ./probe
		init() { unshare -pf --mount-proc "$@"; }
		check "process 1" placed init "$stablerun" --place=move -- ./probe
		check "beside process 1" placed init sh -c '"$0" --place=move -- ./probe' \
			"$stablerun"
	else
		echo "SKIP: namespaces: not allowed here"
	fi
else
	echo "SKIP: privileges, /proc: needs root"
fi

# What the kept run says is what was done, not what was meant.
kept() {
	./refuse mremap "$stablerun" -o "$1" -- ./probe >/dev/null 2>output/err || return 1
	./refuse "$stablerun" -o "$2" -- ./probe >/dev/null || return 1
	for pair in "$1:off" "$2:move"; do
		/usr/bin/python3 -c '
import json, sys
info = json.load(open(sys.argv[1] + "/run.json"))
print(info["place"], info["notes"])
assert info["place"] == sys.argv[2]
assert any("is not there" in note for note in info["notes"]) == (sys.argv[2] == "off")
' "${pair%:*}" "${pair#*:}" || return 1
	done
}
check "run.json" kept unmoved.run moved.run

# Nothing but the helper's own trouble is added where the program cannot run anyway.
missing() {
	printf '\177ELFrubbish' >rubbish && chmod 755 rubbish
	"$stablerun" --place=off -- ./rubbish 2>output/err
	[ $? -eq 126 ] || return 1
	./refuse "$stablerun" -- ./rubbish >output/out 2>output/moved
	[ $? -eq 126 ] && cat output/moved && tail -n 1 output/moved | diff output/err -
}
check "a program that the kernel refuses" missing
finish
