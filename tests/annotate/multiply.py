"""Makes a recording larger: all its samples follow N times, each time later by the time that the
recording took. For events without call stacks or other parts of changing size.

usage: multiply.py FROM TO N
"""
import struct
import sys

HEADER = struct.Struct("<QQQ QQ QQ QQ")
SAMPLE = 9


def main():
    source, target, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = open(source, "rb").read()
    magic, size, attr_size, attrs_at, attrs_size, data_at, data_size, _, _ = \
        HEADER.unpack_from(data)
    assert magic == int.from_bytes(b"PERFILE2", "little") and size == 104
    end = data_at + data_size
    # struct perf_event_attr: what each sample holds. The time stands behind what is before it.
    kinds, = struct.unpack_from("<Q", data, attrs_at + 24)
    assert kinds & 4, "its samples have no time"
    offset = 8 + 8 * bin(kinds & (1 << 16 | 1 | 2)).count("1")
    others, samples, places = bytearray(), bytearray(), []
    at = data_at
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == SAMPLE:
            places.append(len(samples) + offset)
            samples += data[at:at + length]
        else:
            others += data[at:at + length]
        at += length
    stamps = [struct.unpack_from("<Q", samples, place)[0] for place in places]
    span = max(stamps) - min(stamps) + 1
    with open(target, "wb") as out:
        out.write(data[:data_at])
        out.write(others)
        for turn in range(times):
            for place, stamp in zip(places, stamps):
                struct.pack_into("<Q", samples, place, stamp + turn * span)
            out.write(samples)
        grown = out.tell() - end
        # Behind the data: a table of sections, each by its place in the file.
        features = sum(bin(byte).count("1") for byte in data[72:104])
        tail = bytearray(data[end:])
        for i in range(features):
            where, = struct.unpack_from("<Q", tail, i * 16)
            struct.pack_into("<Q", tail, i * 16, where + grown)
        out.write(tail)
        out.seek(48)
        out.write(struct.pack("<Q", data_size + grown))


main()
