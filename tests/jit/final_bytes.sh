#!/bin/sh
# The listing of a profile shows a compiled function as it was at the end: inline caches that
# were patched stand there with their last bytes, those of code.elf and of the patch log.
. "$SRC/tests/lib.sh"
need perf linux-perf

cat >hot.py <<'END'
class A:
    def __init__(self, x):
        self.x = x

    def get(self):
        return self.x


class B(A):
    def get(self):
        return self.x + 1


def total(objects):
    t = 0
    for o in objects:
        t += o.get()
    return t


objects = [A(1), B(2)] * 500
for i in range(400):
    t = total(objects)
print(t)
END
"$BUILD/stablerun" perf -f -o hot.run -- "$BUILD/jit" hot.py >out 2>err || {
	grep -q 'perf' err && skip "perf cannot sample here: $(head -n 1 err)"
	cat err >&2
	fail "stablerun perf"
}
grep -qx 2000 out || fail "the program printed '$(cat out)'"
"$BUILD/annotate" --json --all hot.run >all.json
"$BUILD/annotate" hot.run -- hot.total >listing

cat >check.py <<'END'
import json
import struct

elf = open("hot.run/code.elf", "rb").read()
offset, = struct.unpack_from("<Q", elf, 32)
count, = struct.unpack_from("<H", elf, 56)
segments = [struct.unpack_from("<IIQQQQ", elf, offset + 56 * i) for i in range(count)]


def final(address, size):
    for kind, _, start, virtual, _, length in segments:
        if kind == 1 and virtual <= address < virtual + length:
            return elf[start + address - virtual:][:size]
    raise SystemExit(f"code.elf has nothing at {address:#x}")


last = {}
for line in open("hot.run/patches.log"):
    word = line.split()
    if word[0] == "patch":
        last[int(word[2], 16)] = bytes.fromhex(word[4])

patched = 0
for function in json.load(open("all.json"))["functions"]:
    if not function["name"].startswith("hot.total"):
        continue
    for instruction in function["instructions"]:
        address, code = int(instruction["address"], 16), bytes.fromhex(instruction["bytes"])
        assert code == final(address, len(code)), instruction
        for patch in instruction.get("patches", [])[-1:]:
            place = int(patch["address"], 16)
            new = bytes.fromhex(patch["new"])
            assert new == last[place], (patch, last[place])
            assert code[place - address:][:len(new)] == new, instruction
            # A jump that went somewhere else when it was loaded.
            assert instruction["loaded"] != instruction["text"], instruction
            print(instruction["text"].split()[-1])
            patched += 1
assert patched >= 2, f"{patched} patched instructions in the hot loop"
END
/usr/bin/python3 check.py >targets || fail "the listing has other bytes"
shown=0
while read -r target; do
	! grep -q "jmp .*${target#0x}" listing || shown=$((shown + 1))
done <targets
[ $shown -ge 2 ] || {
	cat targets listing >&2
	fail "the listing does not show the jumps as they were at the end"
}
