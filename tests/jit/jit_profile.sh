#!/bin/sh
# `jit -p` on a real program: names for its time, whole stacks, and a code.elf whose bytes are
# those of the jitdump with the logged patches applied.
. "$SRC/tests/lib.sh"
need perf linux-perf

"$BUILD/jit" -p "$SRC/tests/bench/richards.py" >plain.out || fail "jit -p"
perf_pid=$(ls jit-*.dump | sed 's/[^0-9]//g')
rm -f "/tmp/perf-$perf_pid.map"

cat >check.py <<'END'
import struct
import subprocess
import sys

pid = sys.argv[1]
data = open(f"jit-{pid}.dump", "rb").read()
elf = open(f"jit-{pid}.elf", "rb").read()

# Memory as the records build it, in the order of their stamps.
events = []
at = struct.unpack_from("<I", data, 8)[0]
while at < len(data):
    kind, size, stamp = struct.unpack_from("<IIQ", data, at)
    if kind == 0:
        address, length = struct.unpack_from("<QQ", data, at + 32)
        code = data[at + size - length:at + size]
        name = data[at + 56:at + size - length].split(b"\0")[0].decode()
        events.append((stamp, 0, address, code, name))
    at += size
patches = 0
for line in open(f"jit-{pid}.patches"):
    word = line.split()
    if word[0] == "patch":
        events.append((int(word[1]), 1, int(word[2], 16), bytes.fromhex(word[4]),
                       bytes.fromhex(word[3])))
        patches += 1
events.sort(key=lambda e: e[0])
live = {}
for stamp, kind, address, new, other in events:
    if kind == 0:
        for a in [a for a in live if a < address + len(new) and address < a + len(live[a])]:
            del live[a]
        live[address] = bytearray(new)
        continue
    for a, code in live.items():
        if a <= address < a + len(code):
            assert code[address - a:address - a + len(new)] == other, (hex(address), "old bytes")
            code[address - a:address - a + len(new)] = new
            break
    else:
        sys.exit(f"patch outside of code at {address:#x}")

# The ELF file's own view, through nm and its program headers.
segments = []
phoff, = struct.unpack_from("<Q", elf, 32)
count, = struct.unpack_from("<H", elf, 56)
for i in range(count):
    kind, flags, offset, vaddr, _, size = struct.unpack_from("<IIQQQQ", elf, phoff + 56 * i)
    segments.append((vaddr, offset, size))
symbols = subprocess.run(["nm", "-S", f"jit-{pid}.elf"], capture_output=True, text=True,
                         check=True).stdout.splitlines()
seen = 0
for line in symbols:
    address, size, _, name = line.split(" ", 3)
    address, size = int(address, 16), int(size, 16)
    vaddr, offset, _ = next(s for s in segments if s[0] <= address < s[0] + s[2])
    got = elf[offset + address - vaddr:offset + address - vaddr + size]
    assert got == bytes(live[address]), (name, "bytes differ")
    seen += 1
assert seen == len(live), (seen, len(live))
print(seen, patches)
END
/usr/bin/python3 check.py "$perf_pid" >counts || fail "code.elf is not what the log says"
read -r codes patches <counts
[ "$codes" -ge 10 ] || fail "only $codes code objects"

perf record -q -k mono -F 1000 -e cpu-clock:u --call-graph dwarf,16384 -o perf.data \
	"$BUILD/jit" -p "$SRC/tests/bench/richards.py" >perf.out 2>err || {
	cat err >&2
	skip "perf cannot sample here: $(head -n 1 err)"
}
same plain.out perf.out
rm -f /tmp/perf-"$(ls jit-*.dump | sed 's/[^0-9]//g' | grep -vx "$perf_pid")".map
perf inject --jit -i perf.data -o jit.data >inject.out 2>&1 || fail "perf inject: $(cat inject.out)"
perf script -i jit.data -F ip,sym 2>/dev/null | awk '
	BEGIN { RS = "" }
	{ all++ }
	/ (main|_start)(\n|$)/ { whole++ }
	/richards\.[A-Za-z_.]* \(richards\.py:[0-9]+\)/ { python++ }
	END { print all + 0, whole + 0, python + 0 }' >stacks
read -r all whole python <stacks
[ "$all" -ge 100 ] || fail "only $all samples"
[ $((whole * 100)) -ge $((all * 95)) ] || fail "only $whole of $all stacks reach main"
[ $((python * 100)) -ge $((all * 80)) ] || fail "only $python of $all stacks have a compiled function"
echo "$codes code objects, $patches patches; $whole of $all stacks reach main, $python through compiled code"
