"""Rewrites a perf.data file of this machine in the other byte order, as a big-endian
machine would have written it: flip.py FROM TO. Feature sections are left out, but for the
names of the events."""
import struct
import sys

TID, CALLCHAIN, CPU = 1, 5, 7


def swap(data, size):
    return b"".join(data[i:i + size][::-1] for i in range(0, len(data), size))


def mirror(byte):
    return int(f"{byte:08b}"[::-1], 2)


def flip_attr(attr):
    return (swap(attr[0:8], 4) + swap(attr[8:40], 8) +
            bytes(mirror(b) for b in attr[40:48]) + swap(attr[48:56], 4) +
            swap(attr[56:88], 8) + swap(attr[88:96], 4) + swap(attr[96:104], 8) +
            swap(attr[104:108], 4) + swap(attr[108:112], 2) + swap(attr[112:116], 4) +
            swap(attr[116:120], 4) + swap(attr[120:], 8))


def flip_words(data, pairs):
    """u64s, of which those at the places `pairs` are two u32s."""
    return b"".join(swap(data[i * 8:i * 8 + 8], 4 if i in pairs else 8)
                    for i in range(len(data) // 8))


def flip_fields(data, sample_type, order):
    place, pairs = 0, set()
    for bit in order:
        if sample_type >> bit & 1:
            if bit in (TID, CPU):
                pairs.add(place)
            place += 1
    return flip_words(data, pairs)


def flip_body(kind, misc, body, sample_type):
    trailer = 8 * sum(sample_type >> bit & 1 for bit in (1, 2, 6, 9, 7, 16))
    if kind == 9:
        return flip_fields(body, sample_type, [16, 0, 1, 2, 3, 6, 9, 7, 8, 5])
    if kind >= 64:
        return swap(body, 8) if kind not in (79, 80, 81) else b""
    main, tail = body[:len(body) - trailer], body[len(body) - trailer:]
    tail = flip_fields(tail, sample_type, [1, 2, 6, 9, 7, 16])
    if kind == 1:
        return swap(main[:8], 4) + swap(main[8:32], 8) + main[32:] + tail
    if kind == 10:
        identity = (swap(main[32:40], 4) + swap(main[40:56], 8)
                    if not misc >> 14 & 1 else main[32:56])
        return (swap(main[:8], 4) + swap(main[8:32], 8) + identity + swap(main[56:64], 4) +
                main[64:] + tail)
    if kind == 3:
        return swap(main[:8], 4) + main[8:] + tail
    if kind in (4, 7):
        return swap(main[:16], 4) + swap(main[16:24], 8) + tail
    if kind == 17:
        return swap(main[:8], 8) + swap(main[8:12], 4) + swap(main[12:16], 2) + main[16:] + tail
    if kind in (2, 5, 6, 13):
        return swap(main, 8) + tail
    return None


def main():
    data = open(sys.argv[1], "rb").read()
    attr_size, attrs_at, attrs_size, data_at, data_size = struct.unpack("<5Q", data[16:56])
    attrs, ids, sample_type = [], b"", None
    count = attrs_size // attr_size
    ids_at = 104 + attrs_size
    for i in range(count):
        attr = data[attrs_at + i * attr_size:attrs_at + (i + 1) * attr_size]
        sample_type = struct.unpack("<Q", attr[24:32])[0]
        at, size = struct.unpack("<2Q", attr[-16:])
        attrs.append(flip_attr(attr[:-16]) + struct.pack(">2Q", ids_at + len(ids), size))
        ids += swap(data[at:at + size], 8)
    out = b""
    at = data_at
    while at < data_at + data_size:
        kind, misc, size = struct.unpack("<IHH", data[at:at + 8])
        body = flip_body(kind, misc, data[at + 8:at + size], sample_type)
        if body is not None and kind not in (79, 80):
            out += struct.pack(">IHH", kind, misc, size) + body
        at += size

    def feature(number):
        words = struct.unpack("<4Q", data[72:104])
        bits = [b for b in range(256) if words[b // 64] >> (b % 64) & 1]
        at = data_at + data_size + 16 * bits.index(number)
        start, length = struct.unpack("<2Q", data[at:at + 16])
        return data[start:start + length]

    names = feature(12)
    number, size = struct.unpack("<2I", names[:8])
    flipped, at = struct.pack(">2I", number, size), 8
    for _ in range(number):
        flipped += flip_attr(names[at:at + size])
        at += size
        identities, length = struct.unpack("<2I", names[at:at + 8])
        flipped += struct.pack(">2I", identities, length)
        flipped += names[at + 8:at + 8 + length]
        at += 8 + length
        flipped += swap(names[at:at + 8 * identities], 8)
        at += 8 * identities
    # perf takes a swapped map of features for valid when it has the host's name.
    host = struct.pack(">I", 8) + b"flipped\0"
    out_at = ids_at + len(ids)
    feature_at = out_at + len(out)
    header = b"2ELIFREP" + struct.pack(">8Q", 104, attr_size, 104, attrs_size, out_at,
                                       len(out), 0, 0)
    header += struct.pack(">4Q", 1 << 3 | 1 << 12, 0, 0, 0)
    with open(sys.argv[2], "wb") as file:
        file.write(header + b"".join(attrs) + ids + out +
                   struct.pack(">4Q", feature_at + 32, len(host),
                               feature_at + 32 + len(host), len(flipped)) + host + flipped)


main()
