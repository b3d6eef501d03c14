#!/bin/bash
# The seccomp profiles for containers: as a container's runtime loads them they let stablerun
# have the personality, and still forbid what they are to forbid.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"
build_probe pie probe
profiles=$SRC/etc/seccomp
/usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libseccomp.so.2")' 2>/dev/null ||
	skip "libseccomp is not installed (package libseccomp2)"
under() { /usr/bin/python3 "$SRC/tests/place/profile.py" "$@"; }

# A default profile as far as it concerns us: what is not listed is refused.
cat >allow.py <<'END'
import json, sys
# All that a program may call, from libseccomp's own table.
import ctypes
library = ctypes.CDLL("libseccomp.so.2")
library.seccomp_syscall_resolve_num_arch.restype = ctypes.c_char_p
X86_64 = 0xc000003e
names = [library.seccomp_syscall_resolve_num_arch(ctypes.c_uint32(X86_64), number)
         for number in range(470)]
names = [name.decode() for name in names if name and name != b"personality"]
rules = [{"names": names, "action": "SCMP_ACT_ALLOW"}]
for value in (0, 8, 0x20000, 0x20008, 0xffffffff):
    rules.append({"names": ["personality"], "action": "SCMP_ACT_ALLOW",
        "args": [{"index": 0, "value": value, "op": "SCMP_CMP_EQ"}]})
json.dump({"defaultAction": "SCMP_ACT_ERRNO", "syscalls": rules}, open("default.json", "w"))
END
/usr/bin/python3 allow.py
"$stablerun" --place=personality -- ./probe >plain

refused() {
	under default.json -- "$stablerun" --place=personality -- ./probe
	[ $? -eq 125 ] || return 1
	under default.json -- "$stablerun" -- ./probe >out && ! cmp -s plain out &&
		"$stablerun" --place=move -- ./probe | diff out -
}
check "a default profile refuses it" refused
allowed() {
	under default.json "$profiles/rule.json" -- "$stablerun" --place=personality -- \
		./probe | diff plain -
}
check "with the rule it is allowed" allowed
only() {
	under default.json "$profiles/rule.json" -- /usr/bin/python3 -c '
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def personality(value):
    return libc.personality(ctypes.c_ulong(value))
assert personality(0x0040000) == 0 and personality(0xffffffff) == 0x40000
for value in (0x0400000, 0x0200000, 0x0100000, 0x0440000, 0x0040004, 1 << 32 | 0x40000):
    assert personality(value) == -1 and ctypes.get_errno() == 1, hex(value)'
}
check "the rule allows nothing else" only
merged() {
	jq --slurpfile rule "$profiles/rule.json" '.syscalls += $rule' default.json >merged.json &&
		under merged.json -- "$stablerun" --place=personality -- ./probe | diff plain -
}
if command -v jq >/dev/null; then
	check "the page's way to add it" merged
else
	echo "SKIP: the page's way to add it: jq is not installed (package jq)"
fi

small() {
	under "$profiles/stablerun.json" -- "$stablerun" --place=personality -- ./probe |
		diff plain -
	under "$profiles/stablerun.json" -- "$stablerun" --seed=1 -- ./probe >out
}
check "the small profile" small
forbidden() {
	under "$profiles/stablerun.json" -- /usr/bin/python3 -c '
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    return libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)), ctypes.get_errno()
# With rights the kernel would say EFAULT, EINVAL, ENOENT or do it; all of these are root-safe.
for name, number, arguments in (("mount", 165, (0, 0, 0, 0, 0)), ("umount2", 166, (0, 0)),
        ("unshare", 272, (0,)), ("setns", 308, (-1, 0)), ("bpf", 321, (-1, 0, 0)),
        ("keyctl", 250, (-1,)), ("perf_event_open", 298, (0, 0, 0, 0, 0)),
        ("init_module", 175, (0, 0, 0)), ("userfaultfd", 323, (-1,)),
        ("open_by_handle_at", 304, (-1, 0, 0)), ("io_uring_setup", 425, (0, 0)),
        ("clone", 56, (0x10000000 | 0x10000, 0, 0, 0, 0)), ("settimeofday", 164, (0, 1))):
    assert call(number, *arguments) == (-1, 1), (name, call(number, *arguments))
assert call(435, 0, 0) == (-1, 38)
import threading
thread = threading.Thread(target=print)
thread.start()
thread.join()'
}
check "what the small profile forbids" forbidden
finish
