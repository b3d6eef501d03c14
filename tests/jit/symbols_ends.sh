#!/bin/sh
# However a process ends, what it wrote is usable, and no output ever harms the program.
. "$SRC/tests/lib.sh"
driver=$BUILD/obj/jit/symbols_driver

# files: the pid of the run just made; the perf map comes over here.
collect() {
	pid=$(sed -n 's/^pid //p' out)
	[ ! -e "/tmp/perf-$pid.map" ] || mv "/tmp/perf-$pid.map" "perf-$pid.map"
}

# size FILE: the bytes of all whole records and how many there are, "bad" where it breaks off.
records() {
	/usr/bin/python3 - "$1" <<'END'
import struct, sys
data = open(sys.argv[1], 'rb').read()
at = struct.unpack_from('<I', data, 8)[0]
kinds = []
while at < len(data):
    kind, size, stamp = struct.unpack_from('<IIQ', data, at)
    assert size >= 16 and at + size <= len(data), 'bad record'
    kinds.append(kind)
    at += size
print(*kinds)
END
}

usable() {
	records "jit-$pid.dump" >kinds
	echo "$2" >kinds.want
	same kinds.want kinds
	[ "$(wc -l <"perf-$pid.map")" -eq 2 ] || fail "$1: the perf map"
	grep -q '^patch [0-9]* 60000005 01000000 e8030000 inner: constant$' "jit-$pid.patches" ||
		fail "$1: the patch is not in the log"
}

expect 0 "$driver" 1 . load patch call close
collect
usable close '2 4 0 2 4 0 3'
[ -e "jit-$pid.elf" ] || fail "no code.elf"

for how in exit exec; do
	expect 0 "$driver" 1 . load object patch $how
	collect
	usable $how '2 4 0 2 4 0'
	grep -q "^object [0-9]* [0-9a-f]* dict_view {'a':?1}$" "jit-$pid.patches" ||
		fail "$how: the object is not in the log"
done
expect 139 "$driver" 1 . load patch crash
collect
usable crash '2 4 0 2 4 0'

# A forked child has all code that there was, in files of its own; the parent's stay.
expect 0 "$driver" 1 . load fork call close
collect
child=$(sed -n 's/^child //p' out)
[ "$(sed -n '$p' out)" = 11 ] || fail "the child patched the parent's code"
grep -q patch "jit-$pid.patches" || fail "no header"
[ "$(grep -c '^patch ' "jit-$pid.patches")" -eq 0 ] || fail "the child wrote the parent's log"
records "jit-$pid.dump" | grep -qx '2 4 0 2 4 0 3' || fail "the parent's jitdump"
pid=$child
mv "/tmp/perf-$child.map" "perf-$child.map"
usable child '2 4 0 2 4 0 3'
nm "jit-$child.elf" | grep -q 'T driver.outer' || fail "the child's code.elf"

# Reused memory: both code objects are in the jitdump, the last one in code.elf.
expect 0 "$driver" 1 . load patch reuse close
collect
records "jit-$pid.dump" | grep -qx '2 4 0 2 4 0 2 4 0 3' || fail "the reused code object"
grep -q '^unload [0-9]* 60000000 21$' "jit-$pid.patches" || fail "no unload"
nm "jit-$pid.elf" | grep -q '60000000 T driver.second' || fail "code.elf has the old name"
nm "jit-$pid.elf" | grep -q 'driver.inner' && fail "code.elf has freed code"

# Freed, and nothing came in its place: code.elf has its last bytes.
expect 0 "$driver" 1 . load patch unload close
collect
nm "jit-$pid.elf" | grep -q '60000000 T driver.inner' || fail "freed code has no name"
objdump -d "jit-$pid.elf" | grep -q '60000004:.b8 e8 03 00 00' || fail "freed code's bytes"

# Nothing to write to: a warning for each file, and the program's own result.
expect 0 "$driver" 1 /nonexistent load call patch call close
collect
printf '%s\n' "pid $pid" 11 1010 >out.want
same out.want out
[ "$(wc -l <err)" -le 3 ] || fail "too many warnings: $(cat err)"
grep -q "symbols_driver: cannot create '/nonexistent/jit-$pid.dump': No such file" err ||
	fail "no warning: $(cat err)"

# A file that cannot grow: one warning for it; what was written before it stays whole.
expect 0 "$driver" 1 . limit load many call close
collect
[ "$(sed -n '$p' out)" = 11 ] || fail "the program was harmed: $(cat out)"
[ "$(grep -c "cannot write '.*jit-$pid.dump': File too large; the program runs on" err)" -eq 1 ] ||
	fail "not one warning for the jitdump: $(cat err)"
[ "$(wc -l <err)" -le 4 ] || fail "too many warnings: $(cat err)"
records "jit-$pid.dump" >kinds || fail "the full jitdump is broken"
[ ! -e "jit-$pid.elf" ] || readelf -h "jit-$pid.elf" >/dev/null || fail "half a code.elf"

# As nobody, who owns nothing here but one directory.
cp "$driver" "$TMP/driver"
mkdir "$TMP/open"
chmod 777 "$TMP/open"
as_nobody "$TMP/driver" 1 "$TMP/open" load call close >out 2>err || fail "as nobody: $(cat err)"
[ ! -s err ] || fail "as nobody: $(cat err)"
collect
[ -s "$TMP/open/jit-$pid.elf" ] || fail "no code.elf as nobody"
