"""equal_compare.py DUMP ELF [DIFFERENT]: every page that is not zero in what gdb read is in
the ELF file, byte for byte; at most DIFFERENT (0) pages may differ. Prints the figures."""
import struct
import sys

PAGE = 4096


def read_dump(path):
    with open(path, "rb") as stream:
        while True:
            line = stream.readline()
            if not line:
                return
            address, size = line.split()
            yield int(address, 16), stream.read(int(size))


def read_elf(path):
    with open(path, "rb") as stream:
        image = stream.read()
    offset, = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    segments = []
    for i in range(count):
        kind, _, where, address, _, length, _, _ = struct.unpack_from(
            "<IIQQQQQQ", image, offset + i * size)
        if kind == 1:
            segments.append((address, image[where:where + length]))
    return segments


def find(segments, address):
    for begin, data in segments:
        if begin <= address and address + PAGE <= begin + len(data):
            return data[address - begin:][:PAGE]
    return None


def main():
    segments = read_elf(sys.argv[2])
    equal = different = missing = 0
    for begin, data in read_dump(sys.argv[1]):
        for at in range(0, len(data), PAGE):
            page = data[at:at + PAGE]
            if not any(page):
                continue
            kept = find(segments, begin + at)
            if kept == page:
                equal += 1
            elif kept is None:
                missing += 1
                print("missing: %#x" % (begin + at))
            else:
                different += 1
                where = next(i for i in range(PAGE) if kept[i] != page[i])
                print("different: %#x" % (begin + at + where))
    print("%d pages equal, %d different, %d missing" % (equal, different, missing))
    allowed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    sys.exit(missing > 0 or different > allowed or equal == 0)


main()
