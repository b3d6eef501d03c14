"""agents.py oprofile|vtune LOG JITDUMP: what the stand-in for the agent was told of one process is
what the jitdump of that process says: the same code objects, in order, with the same names,
bytes and lines, and each one's end."""

import struct
import sys

which, log_name, dump_name = sys.argv[1:4]
CODE_LOAD, DEBUG_INFO = 0, 2


def read_dump(name):
    data = open(name, "rb").read()
    (size,) = struct.unpack_from("<I", data, 8)
    (pid,) = struct.unpack_from("<I", data, 20)
    position, lines, loads = size, [], []
    while position < len(data):
        kind, total, _ = struct.unpack_from("<IIQ", data, position)
        body = position + 16
        if kind == DEBUG_INFO:
            address, count = struct.unpack_from("<QQ", data, body)
            at, lines = body + 16, []
            for _ in range(count):
                vma, line, _ = struct.unpack_from("<QII", data, at)
                end = data.index(b"\0", at + 16)
                lines.append((vma, line, data[at + 16 : end].decode()))
                at = end + 1
        elif kind == CODE_LOAD:
            _, _, _, address, length, _ = struct.unpack_from("<IIQQQQ", data, body)
            end = data.index(b"\0", body + 40)
            code = data[end + 1 : end + 1 + length]
            symbol = data[body + 40 : end].decode()
            loads.append((address, length, code.hex(), symbol, lines))
            lines = []
        position += total
    return pid, loads


pid, loads = read_dump(dump_name)
calls = [line.rstrip("\n").split(" ", 2) for line in open(log_name)]
calls = [(name, rest[0] if rest else "") for owner, name, *rest in calls if int(owner) == pid]
live, told, pending = {}, [], None
assert calls[0][0] == {"oprofile": "open", "vtune": "initialize"}[which], calls[0]
assert calls[-1] == {"oprofile": ("close", "1"), "vtune": ("event", "2 1")}[which], calls[-1]
for name, rest in calls[1:-1]:
    if name == "lines":
        address, *entries = rest.split(" ")
        file = entries.pop()
        pending = (int(address, 16), [tuple(e.split(":")) for e in entries], file)
    elif name == "code":
        address, size, code, symbol = rest.split(" ", 3)
        address, size = int(address, 16), int(size)
        starts = []
        if pending and pending[0] == address:
            starts = [(int(vma, 16) - address, int(line)) for vma, line in pending[1]]
        told.append((address, size, code, symbol, starts))
        live[address] = symbol
        pending = None
    elif name == "method":
        number, address, size, code, *words = rest.split(" ")
        ends = []
        while ":" in words[0] and words[0].replace(":", "").isdigit():
            ends.append(tuple(map(int, words.pop(0).split(":"))))
        _source, symbol = words[0], " ".join(words[1:])
        starts, begin = [], 0
        for end, line in ends:
            starts.append((begin, line))
            begin = end
        assert not ends or ends[-1][0] == int(size), (symbol, ends, size)
        told.append((int(address, 16), int(size), code, symbol, starts))
        assert number not in live
        live[number] = symbol
    elif name == "unload":
        del live[int(rest, 16) if which == "oprofile" else rest]
    else:
        raise AssertionError((name, rest))
assert len(told) == len(loads) > 3, (len(told), len(loads))
with_lines = 0
for one, other in zip(told, loads):
    assert one[:4] == other[:4], (one, other)
    if one[4]:
        with_lines += 1
        # The jitdump has a row for each bytecode.
        rows = [(vma - one[0], line) for vma, line, _ in other[4]]
        known = [r for i, r in enumerate(rows) if not i or r[1] != rows[i - 1][1]]
        assert known == one[4], (one[3], one[4], known)
assert with_lines > 2, with_lines
print(f"{which}: {len(told)} code objects, {with_lines} with lines, {len(live)} live at the end")
