"""Reads what gdb's own symbol reader does not hand out: the bytes and symbols of a code.elf.

Format: the ELF-64 object file of the System V ABI, little endian."""

import bisect
import struct

SHT_SYMTAB = 2
SHT_NOBITS = 8
SHF_ALLOC = 2
SHF_EXECINSTR = 4
STT_FUNC = 2


class Malformed(Exception):
    """The file is no readable ELF; says where and why."""


class Symbol:
    def __init__(self, name, address, size):
        self.name = name
        self.address = address
        self.size = size


class Code:
    """Executable bytes at their true addresses, and the symbols over them."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self._data = file.read()
        self._path = path
        self.regions = []  # (address, bytes), ascending
        self.symbols = []  # Symbol, ascending
        self._read()
        self.regions.sort()
        self.symbols.sort(key=lambda symbol: symbol.address)
        self._starts = [symbol.address for symbol in self.symbols]

    def _unpack(self, form, offset):
        size = struct.calcsize(form)
        if offset < 0 or offset + size > len(self._data):
            raise Malformed("%s: truncated at byte %d" % (self._path, offset))
        return struct.unpack_from(form, self._data, offset)

    def _bytes(self, offset, size):
        if offset + size > len(self._data):
            raise Malformed("%s: section at %d reaches past the end" % (self._path, offset))
        return self._data[offset : offset + size]

    def _read(self):
        if self._data[:6] != b"\x7fELF\x02\x01":
            raise Malformed("%s: not a 64-bit little-endian ELF file" % self._path)
        (table,) = self._unpack("<Q", 0x28)
        entry, count = self._unpack("<HH", 0x3A)
        if count and entry < 64:
            raise Malformed("%s: section header size %d" % (self._path, entry))
        sections = [self._unpack("<IIQQQQIIQQ", table + i * entry) for i in range(count)]
        for section in sections:
            _, kind, flags, address, offset, size, link, _, _, step = section
            if flags & SHF_ALLOC and flags & SHF_EXECINSTR and kind != SHT_NOBITS:
                self.regions.append((address, self._bytes(offset, size)))
            elif kind == SHT_SYMTAB and step >= 24:
                if link >= len(sections):
                    raise Malformed("%s: symbol names in section %d" % (self._path, link))
                names = self._bytes(sections[link][4], sections[link][5])
                self._read_symbols(offset, size // step, step, names)

    def _read_symbols(self, offset, count, step, names):
        for index in range(count):
            name, info, _, _, value, size = self._unpack("<IBBHQQ", offset + index * step)
            if info & 15 != STT_FUNC or not size:
                continue
            end = names.find(b"\0", name)
            text = names[name : end if end >= 0 else len(names)]
            self.symbols.append(Symbol(text.decode("utf-8", "replace"), value, size))

    def symbol_at(self, address):
        """The symbol that covers `address`, or None."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at >= 0 and address < self.symbols[at].address + self.symbols[at].size:
            return self.symbols[at]
        return None

    def read(self, address, size):
        """The run's bytes there at exit; fewer, or none, where it kept none."""
        for start, data in self.regions:
            if start <= address < start + len(data):
                return data[address - start : address - start + size]
        return b""
