"""elfbytes.py ELF ADDRESS COUNT: prints COUNT bytes at ADDRESS, as segments and, which must
agree, as sections have them. Reads ELF by itself, without the libraries that wrote it."""
import struct
import sys


def main():
    path, address, count = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3])
    with open(path, "rb") as stream:
        image = stream.read()
    assert image[:6] == b"\x7fELF\x02\x01"
    phoff, shoff = struct.unpack_from("<QQ", image, 32)
    phentsize, phnum, shentsize, shnum, _ = struct.unpack_from("<5H", image, 54)
    found = []
    for i in range(phnum):
        kind, _, offset, start, _, size, _, _ = struct.unpack_from(
            "<IIQQQQQQ", image, phoff + i * phentsize)
        if kind == 1 and start <= address and address + count <= start + size:
            found.append(image[offset + address - start:][:count])
    for i in range(shnum):
        _, _, flags, start, offset, size = struct.unpack_from(
            "<IIQQQQ", image, shoff + i * shentsize)
        if flags & 2 and start <= address and address + count <= start + size:
            found.append(image[offset + address - start:][:count])
    if len(found) != 2 or found[0] != found[1]:
        sys.exit("'%s': %#x is in %d segments and sections" % (path, address, len(found)))
    print(found[0].hex())


main()
