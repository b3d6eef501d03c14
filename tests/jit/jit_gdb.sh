#!/bin/sh
# A real program under gdb: a breakpoint at a Python line that is not compiled yet, and a
# backtrace through compiled frames, C functions and the interpreter down to main.
. "$SRC/tests/lib.sh"
need gdb gdb

cat >program.py <<'END'
def key(n):
    total = 0
    while n:
        total += n % 3
        n -= 1
    return total


def middle(numbers):
    return sorted(numbers, key=key)


def outer(count):
    for i in range(count):
        result = middle([i, 5, 2])
    return result


print(outer(100))
END
# Until key() is compiled gdb takes the next line that has code: in the module, in middle().
gdb -nx -q -batch -ex 'set confirm off' -ex 'set breakpoint pending on' \
	-ex 'break program.py:4' -ex run -ex continue -ex continue -ex bt -ex 'disassemble /s' \
	-ex delete -ex 'tbreak program.py:15' -ex continue -ex 'bt 1' -ex continue \
	--args "$BUILD/jit" --threshold=1 program.py >gdb.out 2>&1

shows() {
	grep -q "$1" gdb.out || {
		cat gdb.out >&2
		fail "gdb does not show: $1"
	}
}

shows '^Breakpoint 1, .*program.key () at .*program.py:4$'
shows '^4.        total += n % 3'
# From the newest frame to the oldest.
tr '\n' ' ' <gdb.out >flat
grep -q '#0 .*program\.key () at [^ ]*program.py:4 .*list_sort.*program\.middle () at [^ ]*program.py:10 .*program\.outer () at [^ ]*program.py:15 .* in main (' flat ||
	shows 'key () … list_sort … middle () … outer () … main'
shows '^#0 .*program\.outer () at .*program.py:15$'
shows '^\[2, 5, 99\]$'
shows 'exited normally'
! grep -q '?? ()\|corrupt stack' gdb.out || shows 'a frame with a name each'

# Attached to a program that runs already: what it compiled before is there.
cat >endless.py <<'END'
def spin():
    n = 0
    while True:
        n += 1
        if n == 1000:
            open("spinning", "w").close()


spin()
END
"$BUILD/jit" endless.py &
pid=$!
trap 'kill $pid 2>/dev/null || true' EXIT
turns=0
while [ ! -e spinning ] && [ $turns -lt 300 ]; do
	sleep 0.1
	turns=$((turns + 1))
done
gdb -nx -q -batch -p $pid -ex bt >attach.out 2>&1
grep -q 'endless\.spin () at .*endless.py:[3-5]' attach.out &&
	grep -q ' main (' attach.out || {
	cat attach.out >&2
	fail "attaching shows no frame of spin, or no main"
}
