#!/bin/sh
# gdb, through its JIT interface: a pending breakpoint at a Python line, frames, source.
. "$SRC/tests/lib.sh"
need gdb gdb
driver=$BUILD/obj/jit/symbols_driver

cat >driver_source.py <<'END'
# 1
# 2
# 3
# 4
def inner(n):
    r = 1
    while n: r += 1
    n -= 1
    return r
END
gdb -nx -q -batch -ex 'set confirm off' -ex 'set breakpoint pending on' \
	-ex "set substitute-path /tmp $PWD" \
	-ex 'break driver_source.py:7' -ex 'run' -ex 'bt' -ex 'disassemble /s' -ex 'delete' \
	-ex 'break driver_stop' -ex 'continue' -ex 'bt' \
	-ex 'up 2' -ex 'print/x $rip' -ex 'info symbol $rip' -ex 'delete' \
	-ex 'break *0x60000000' -ex 'continue' -ex 'bt 3' -ex 'stepi' -ex 'bt 3' \
	-ex 'break *0x60000014' -ex 'continue' -ex 'bt 3' -ex 'stepi' -ex 'bt 1' \
	--args "$driver" 2 . load call call >gdb.out 2>&1
cp gdb.out /dev/stderr

shows() {
	grep -q "$1" gdb.out || fail "gdb does not show: $1"
}

shows '^Breakpoint 1, driver.inner () at /tmp/driver_source.py:7'
shows '^7.    while n: r += 1'
shows '^#0  driver.inner () at /tmp/driver_source.py:7'
shows '^#2  0x.* in driver.outer () at /tmp/driver_source.py:20'
shows '^#[0-9]* .* main (argc='
shows '^#0  driver_stop ()'
shows '^driver.outer (driver_source.py:19) \[optimised\] + 18 in section .text'
# At the first instruction, behind the push, and at the ret the frame is another one.
[ "$(grep -c '^#0 .*driver.inner ()' gdb.out)" -ge 4 ] || fail "a frame of inner is missing"
[ "$(grep -c '^#1 .*driver_helper (turns' gdb.out)" -ge 4 ] || fail "a caller is missing"
[ "$(grep -c '^#2 .*driver.outer ()' gdb.out)" -ge 4 ] || fail "a caller's caller is missing"
shows '^#0  0x.* in driver_helper'

# Many code objects are few images, and every function has its name in one of them.
cat >count.gdb <<'END'
set confirm off
set width 0
break codemem_free
run
set $entry = __jit_debug_descriptor.first_entry
set $images = 0
while $entry != 0
	set $images = $images + 1
	set $entry = $entry->next_entry
end
printf "images %d\n", $images
info symbol 0x60000140
END
gdb -nx -q -batch -x count.gdb --args "$driver" 2 . load many >many.out 2>&1
images=$(sed -n 's/^images //p' many.out)
[ "${images:-0}" -ge 1 ] && [ "$images" -le 100 ] || {
	cat many.out >&2
	fail "5,000 functions are ${images:-no} images"
}
grep -q '^many.function_0 (driver_source.py:1) in section .text' many.out ||
	fail "a function has no name"
