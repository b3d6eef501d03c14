"""Bytes: packing records, a checksum by table, run-length and LZ coding, base64 by hand.

Usage: bytes_work.py [RECORDS]; 60 in the tests
"""

import struct
import sys
import zlib

RECORD = struct.Struct("<IhBxd8s")


def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = (n >> 1) ^ 0xEDB88320 if n & 1 else n >> 1
        table.append(n)
    return table


TABLE = crc_table()


def crc32(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def pack_all(count):
    buffer = bytearray()
    for i in range(count):
        name = f"rec{i % 50:04}".encode()
        buffer += RECORD.pack(i, i % 100 - 50, i & 0xFF, i / 8, name)
    return bytes(buffer)


def unpack_all(data):
    total = 0
    names = set()
    for number, small, byte, real, name in RECORD.iter_unpack(data):
        total += number * small + byte + int(real)
        names.add(name.rstrip(b"\0"))
    return total, len(names)


def compress(data):
    """LZ with a table of the last place of each three bytes; matches as (distance, length)."""
    out = bytearray()
    last = {}
    literals = bytearray()
    i = 0
    while i < len(data):
        key = data[i : i + 3]
        place = last.get(key)
        last[key] = i
        if place is not None and i - place < 65536 and len(key) == 3:
            length = 3
            while length < 255 and i + length < len(data) and (
                data[place + length] == data[i + length]
            ):
                length += 1
            while literals:
                out.append(min(len(literals), 127))
                out += literals[:127]
                del literals[:127]
            out.append(128)
            out += (i - place).to_bytes(2, "big")
            out.append(length)
            i += length
        else:
            literals.append(data[i])
            i += 1
    while literals:
        out.append(min(len(literals), 127))
        out += literals[:127]
        del literals[:127]
    return bytes(out)


def decompress(data):
    out = bytearray()
    i = 0
    while i < len(data):
        tag = data[i]
        if tag < 128:
            out += data[i + 1 : i + 1 + tag]
            i += 1 + tag
        else:
            distance = int.from_bytes(data[i + 1 : i + 3], "big")
            for _ in range(data[i + 3]):
                out.append(out[-distance])
            i += 4
    return bytes(out)


ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def base64(data):
    out = bytearray()
    for i in range(0, len(data), 3):
        group = data[i : i + 3]
        bits = int.from_bytes(group.ljust(3, b"\0"), "big")
        out.append(ALPHABET[bits >> 18])
        out.append(ALPHABET[bits >> 12 & 63])
        out.append(ALPHABET[bits >> 6 & 63] if len(group) > 1 else 61)
        out.append(ALPHABET[bits & 63] if len(group) > 2 else 61)
    return out.decode("ascii")


def histogram(view):
    counts = [0] * 256
    for byte in view:
        counts[byte] += 1
    return counts


def main(records=70000):
    data = pack_all(records)
    print(len(data), *unpack_all(data))
    print(f"{crc32(data):08x}", crc32(data) == zlib.crc32(data))
    packed = compress(data)
    print(len(packed), decompress(packed) == data)
    text = base64(packed)
    print(text[:32], len(text), text.count("A"))
    counts = histogram(memoryview(data)[::2])
    print(counts[0], sum(i * count for i, count in enumerate(counts)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
