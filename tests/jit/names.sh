#!/bin/sh
# No function or variable of the jit has a name of the C library's: Python and its modules are
# linked into the same program and would call ours in its place.
. "$SRC/tests/lib.sh"

nm -g --defined-only "$BUILD"/obj/jit/*.o "$BUILD"/launcher/base.o | awk 'NF == 3 { print $3 }' |
	sort -u >ours
nm -D --defined-only "$(gcc -print-file-name=libc.so.6)" "$(gcc -print-file-name=libm.so.6)" |
	awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u >theirs
grep -qx bind theirs || fail "the C library has no names: $(head -n 3 theirs)"
grep -qx hook_evaluate ours || fail "the jit has no names"
# warn() of the messages does what <err.h> says, but for errno; nothing in Python calls it.
comm -12 ours theirs | grep -vx warn >both || true
[ ! -s both ] || fail "names of both: $(cat both)"

# And sockets work.
"$BUILD/jit" -c '
import socket
with socket.socket() as s:
    s.bind(("127.0.0.1", 0))
    s.listen()
    print(s.getsockname()[0])' >out
echo 127.0.0.1 | same - out
