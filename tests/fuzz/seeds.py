"""Writes seeds for the fuzz targets: seeds.py DIRECTORY makes DIRECTORY/NAME/… for each."""
import os
import struct
import sys


def write(name, file, data):
    os.makedirs(os.path.join(sys.argv[1], name), exist_ok=True)
    with open(os.path.join(sys.argv[1], name, file), "wb") as out:
        out.write(data)


def record(order, kind, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack(order + "IHH", kind, misc, 8 + len(body)) + body


def perfdata(order, pipe=False, stack=False):
    sample_type = 1 | 2 | 4 | 128 | 256 | 32 | 65536 | ((1 << 12 | 1 << 13) if stack else 0)
    trailer = struct.pack(order + "IIQQQ", 7, 7, 5, 0, 42)
    flags = (1 << 18 | 1 << 24) if order == "<" else 0
    attr = struct.pack(order + "IIQQQQ", 1, 128, 0, 4000, sample_type, 0)
    attr += struct.pack("<Q", flags) + struct.pack(order + "IIQQQ", 0, 0, 0, 0, 0)
    attr += struct.pack(order + "QII", 0xff0fff if stack else 0, 512 if stack else 0, 1)
    attr += b"\0" * (128 - len(attr))
    comm = record(order, 3, 1 << 13, struct.pack(order + "II", 7, 7) + b"program\0" + trailer)
    fork = record(order, 7, 0, struct.pack(order + "IIIIQ", 8, 7, 8, 7, 6) + trailer)
    mmap = record(order, 10, 2, struct.pack(order + "IIQQQ", 7, 7, 0x1000, 0x1000, 0) +
                  struct.pack(order + "IIQQII", 1, 2, 3, 4, 5, 2) + b"/bin/program\0\0\0\0" + trailer)
    lost = record(order, 2, 0, struct.pack(order + "QQ", 42, 3) + trailer)
    samples = b""
    for i in range(3):
        body = struct.pack(order + "QQIIQIIQ", 42, 0x1234 + i, 7, 7, 10 + i, 0, 0, 1)
        body += struct.pack(order + "QQQQ", 3, 2**64 - 512, 0x1234, 0x1300)
        if stack:
            body += struct.pack(order + "Q20Q", 2, *range(20))
            body += struct.pack(order + "Q", 64) + b"\x11" * 64 + struct.pack(order + "Q", 64)
        samples += record(order, 9, 2, body)
    data = comm + mmap + fork + lost + samples + record(order, 68, 0, b"")
    if pipe:
        attr_record = record(order, 64, 0, attr + struct.pack(order + "Q", 42))
        return struct.pack(order + "QQ", 0x32454c4946524550, 16) + attr_record + data
    ids_at = 104 + 144
    head = struct.pack(order + "QQQQQQQQQ", 0x32454c4946524550, 104, 144, 104, 144, ids_at + 8,
                       len(data), 0, 0)
    head += struct.pack(order + "QQQQ", 1 << 3, 0, 0, 0)
    tail = struct.pack(order + "QQ", ids_at + 8 + len(data) + 16, 12)
    tail += struct.pack(order + "I", 8) + b"machine\0"
    return head + attr + struct.pack(order + "QQ", ids_at, 8) + struct.pack(order + "Q", 42) + \
        data + tail


def jitdump(order):
    out = struct.pack(order + "IIIIIIQQ", 0x4a695444, 1, 40, 62, 0, 7, 1, 0)
    code = bytes.fromhex("554889e5b9204e00004883c001ffc975f85dc3")

    def add(kind, body):
        return struct.pack(order + "IIQ", kind, 16 + len(body), 5) + body

    out += add(2, struct.pack(order + "QQQII", 0x1000, 2, 0x1000, 1, 0) + b"a.py\0" +
               struct.pack(order + "QII", 0x1004, 2, 256) + b"\xff\0")
    out += add(4, struct.pack(order + "QQQ", 8, 4, 8) + b"\0" * 8)
    out += add(0, struct.pack(order + "IIQQQQ", 7, 7, 0x1000, 0x1000, len(code), 0) + b"f\0" + code)
    out += add(1, struct.pack(order + "IIQQQQQ", 7, 7, 0x2000, 0x1000, 0x2000, len(code), 0))
    return out + add(3, b"")


def elf():
    code = bytes.fromhex("554889e55dc3") + b"\x90" * 10
    names = b"\0.text\0.symtab\0.strtab\0f\0"
    strings_at = 120 + len(code) + 48
    sections_at = strings_at + len(names)
    out = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 64, sections_at, 0, 64,
                      56, 1, 64, 4, 3)
    out += struct.pack("<IIQQQQQQ", 1, 5, 120, 0x1000, 0x1000, len(code), len(code), 1)
    out += code + b"\0" * 24 + struct.pack("<IBBHQQ", 23, 0x12, 0, 1, 0x1000, 6) + names
    for name, kind, flags, address, offset, size, link, info, entry in (
            (0, 0, 0, 0, 0, 0, 0, 0, 0), (1, 1, 6, 0x1000, 120, len(code), 0, 0, 0),
            (7, 2, 0, 0, 120 + len(code), 48, 3, 1, 24), (15, 3, 0, 0, strings_at, len(names), 0, 0, 0)):
        out += struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size, link, info, 1, entry)
    return out


write("perfdata", "gperftools", struct.pack("<15Q", 0, 3, 0, 10000, 0, 2, 2, 0x1234, 0x1300, 1, 1,
                                              0x1240, 0, 1, 0) +
      b"1000-2000 r-xp 00000000 01:02 3  /bin/program\n5000-6000 r-xp 00000000 00:00 0\n")
for name, order in (("little", "<"), ("big", ">")):
    write("perfdata", name, perfdata(order))
    write("perfdata", name + "-pipe", perfdata(order, pipe=True))
    write("perfdata", name + "-stack", perfdata(order, stack=True))
    write("jitdump", name, jitdump(order))
write("perfmap", "plain", b"1000 10 f\n0x2000 20 g h\n1008 4 inner\nbad line\n3000 0 none\n")
write("patches", "plain", b"# stablerun patches 1 pid 7\npatch 10 1004 9090 ebfe cache filled\n"
      b"object 11 2000 float 3.14\nunload 12 1000 4096\n")
write("elf", "code", elf())

write("rule", "full", b"; why\n[match]\nwhen = file:true needs:libc.so.* section:.text\n"
      b"when = exports:main script:sh\n[pin]\narg = -x\nenv = A+=1\n[frames]\narg = -f\n"
      b"[dump]\nenv = B:=2\n[needs]\nseed = 1\nclock = startup:200\ncpu = one\n"
      b"[collect]\nfile = x-%p.log\n[about]\nname = X\nwhy = because\n  of that\n")
write("rule", "bad", b"[match]\nwhen = file:x\n")
write("runjson", "full", b"""{"schema": 1, "stablerun": "0", "argv": ["a", {"hex": "61ff"}],
"exec": "/a", "env": ["A=1"], "cwd": null, "pid": 7, "pids": [7, 8], "exit": {"status": 3},
"pins": [{"name": "seed", "value": "1", "source": "x"}], "rlimits": {"stack": [8, "unlimited"]},
"personality": "0x40000", "place": "move", "rule": "r", "auxv": {"AT_BASE": "0x1"},
"marks": {"start_stack": "0x2"}, "kernel": "k", "cpu": {"model": "m", "features": "f"},
"ld_so_cache_size": 9, "build_ids": {"/a": "ab"}, "clocks": {"start": {"realtime": 1,
"monotonic": 2}, "end": {"realtime": 3, "monotonic": 4}}, "lost": {"samples": 1, "code": ["c"]},
"event": "e", "frequency": 5, "no_samples": null, "maps": {"start": "s", "exit": "e"},
"code": [{"pid": 7, "address": "0x1000", "size": 4096, "fate": "live", "time": 1}],
"notes": ["n"], "runs": 2}""")
write("runjson", "killed", b'{"schema":1,"argv":["a"],"exit":{"signal":9,"core":true}}')
write("maps", "maps", b"00400000-00401000 r-xp 00000000 fe:00 12    /bin/a b\n"
      b"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0    [stack]\n")
write("maps", "perfmap", b"1000 10 f\n0x2000 20 g h\nbad\n")
write("maps", "perfdata", perfdata("<"))
write("maps", "elf", elf())
