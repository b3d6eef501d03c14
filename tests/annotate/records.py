"""Puts records into a perf.data file that no perf on this machine would write.

usage: records.py FROM TO others | deferred | ksymbol

others: every kind that is only passed over, with LOST and LOST_SAMPLES of 12 samples together,
three THROTTLEs and an AUX of 4,096 bytes; with unknown kinds, and one with a payload behind it.
deferred: the user's part of each sample's call stack comes in a record of its own, later.
ksymbol: a kernel symbol and ten samples in it, and one that was unloaded.
"""
import struct
import sys

IDENTIFIER, IP, TID, TIME, CALLCHAIN, PERIOD = 1 << 16, 1, 2, 4, 1 << 5, 1 << 8
SAMPLE = 9
KSYMBOL_AT = 0xffffffffc0de0000


class File:
    def __init__(self, path):
        self.data = open(path, "rb").read()
        words = struct.unpack_from("<9Q", self.data)
        self.attrs_at, self.at, self.size = words[3], words[5], words[6]
        self.kinds, = struct.unpack_from("<Q", self.data, self.attrs_at + 24)
        assert self.kinds & TIME and self.kinds & TID and not self.kinds & IDENTIFIER, self.kinds
        self.records, at = [], self.at
        while at < self.at + self.size:
            kind, misc, length = struct.unpack_from("<IHH", self.data, at)
            self.records.append((kind, misc, self.data[at + 8:at + length]))
            at += length

    def trailer(self, pid, time):
        """What ends every record that is no sample, as the event asks for."""
        assert not self.kinds & (1 << 6 | 1 << 9 | 1 << 7), "ids, streams or cpus"
        return struct.pack("<IIQ", pid, pid, time)

    def stamp(self, body):
        """pid and time of a sample's body."""
        return struct.unpack_from("<IIQ", body, 8)[0], struct.unpack_from("<Q", body, 16)[0]

    def write(self, path, records):
        out = b"".join(struct.pack("<IHH", kind, misc, len(body) + 8) + body + extra
                       for kind, misc, body, extra in records)
        end, grown = self.at + self.size, len(out) - self.size
        features = sum(bin(byte).count("1") for byte in self.data[72:104])
        tail = bytearray(self.data[end:])
        for i in range(features):
            where, = struct.unpack_from("<Q", tail, i * 16)
            struct.pack_into("<Q", tail, i * 16, where + grown)
        head = bytearray(self.data[:self.at])
        struct.pack_into("<Q", head, 48, len(out))
        open(path, "wb").write(bytes(head) + out + bytes(tail))


def others(file):
    first = next(body for kind, _, body in file.records if kind == SAMPLE)
    pid, time = file.stamp(first)
    end = file.trailer(pid, time)
    extra = [
        (2, struct.pack("<QQ", 0, 5)),                        # LOST
        (13, struct.pack("<Q", 7)),                           # LOST_SAMPLES
        (4, struct.pack("<IIIIQ", 4000, 1, 4000, 1, time)),   # EXIT
        (5, struct.pack("<QQQ", time, 1, 1)),                 # THROTTLE
        (5, struct.pack("<QQQ", time, 1, 1)), (5, struct.pack("<QQQ", time, 1, 1)),
        (6, struct.pack("<QQQ", time, 1, 1)),                 # UNTHROTTLE
        (8, struct.pack("<II", pid, pid) + bytes(32)),        # READ
        (11, struct.pack("<QQQ", 0, 4096, 0)),                # AUX
        (12, struct.pack("<II", pid, pid)),                   # ITRACE_START
        (14, b""), (15, struct.pack("<II", pid, pid)),        # SWITCH, SWITCH_CPU_WIDE
        (16, struct.pack("<IIQ", pid, pid, 1) + bytes(16)),   # NAMESPACES
        (18, struct.pack("<HHI", 1, 0, 7) + bytes(8)),        # BPF_EVENT
        (19, struct.pack("<Q", 1) + b"/slice\0\0"),           # CGROUP
        (20, struct.pack("<QHH", KSYMBOL_AT, 5, 5) + bytes(range(10)) + bytes(2)),  # TEXT_POKE
        (21, struct.pack("<Q", 9)),                           # AUX_OUTPUT_HW_ID
        (60, bytes(40)),                                      # none yet
    ]
    own = [(68, b"", b""), (69, struct.pack("<QQQQQ", 1, 1, 0, 0, 0), b""),
           (71, struct.pack("<QQQIIII", 64, 0, 0, 0, pid, 0, 0), bytes(range(64))),
           (82, b"", b""), (120, bytes(16), b"")]
    result = []
    for i, (kind, misc, body) in enumerate(file.records):
        result.append((kind, misc, body, b""))
        if kind == SAMPLE and extra:
            number, content = extra.pop(0)
            result.append((number, 2, content + end, b""))
        elif kind == SAMPLE and own:
            number, content, payload = own.pop(0)
            result.append((number, 0, content, payload))
    assert not extra and not own, "too few samples"
    return result


def deferred(file):
    before = 8 * bin(file.kinds & (IP | TID | TIME | PERIOD)).count("1")
    assert file.kinds & CALLCHAIN
    user, late = (1 << 64) - 512, (1 << 64) - 640
    result, cookie = [], 1000
    for kind, misc, body in file.records:
        if kind != SAMPLE:
            result.append((kind, misc, body, b""))
            continue
        count, = struct.unpack_from("<Q", body, before)
        chain = struct.unpack_from(f"<{count}Q", body, before + 8)
        assert chain[0] == user, hex(chain[0])
        cookie += 1
        result.append((kind, misc, body[:before] + struct.pack("<QQQ", 2, late, cookie) +
                       body[before + 8 + 8 * count:], b""))
        pid, time = file.stamp(body)
        result.append((22, 2, struct.pack(f"<QQ{count}Q", cookie, count, *chain) +
                       file.trailer(pid, time + 1), b""))
    return result


def ksymbol(file):
    first = next(body for kind, _, body in file.records if kind == SAMPLE)
    pid, time = file.stamp(first)

    def symbol(at, flags, name):
        name += b"\0" * (8 - len(name) % 8)
        return (17, 1, struct.pack("<QIHH", at, 256, 1, flags) + name + file.trailer(-1 & 0xffffffff,
                time), b"")

    result = [symbol(KSYMBOL_AT, 0, b"bpf_prog_1234_watch"), symbol(KSYMBOL_AT + 4096, 1, b"gone")]
    result += [(kind, misc, body, b"") for kind, misc, body in file.records]
    result += [(SAMPLE, 1, struct.pack("<Q", KSYMBOL_AT + 16) + first[8:], b"")] * 10
    return result


def main():
    source, target, what = sys.argv[1:]
    file = File(source)
    file.write(target, {"others": others, "deferred": deferred, "ksymbol": ksymbol}[what](file))


main()
