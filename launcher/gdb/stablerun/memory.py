"""The stopped program's memory map and registers."""

import gdb

PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
PAGE = 4096


class Mapping:
    def __init__(self, line):
        fields = line.split(None, 5)
        start, _, end = fields[0].partition("-")
        self.start = int(start, 16)
        self.end = int(end, 16)
        self.mode = fields[1]
        self.inode = int(fields[4])
        self.name = fields[5].rstrip("\n") if len(fields) > 5 else ""

    @property
    def executable(self):
        return "x" in self.mode

    @property
    def protection(self):
        """As mprotect takes it."""
        bits = zip("rwx", (PROT_READ, PROT_WRITE, PROT_EXEC))
        return sum(bit for letter, bit in bits if letter in self.mode)

    @property
    def anonymous_code(self):
        """Executable memory that no file on disk explains: what a JIT makes."""
        if not self.executable or self.name in ("[vdso]", "[vsyscall]"):
            return False
        return self.inode == 0 or self.name.startswith(("/memfd:", "/dev/zero"))


def parse_maps(lines):
    """The mappings of /proc/PID/maps's lines, in its order; lines that are none are left out."""
    mappings = []
    for line in lines:
        try:
            mappings.append(Mapping(line))
        except (ValueError, IndexError):
            continue
    return mappings


def live_pid():
    """The selected inferior's pid, or 0 where no live process stands behind it (a core)."""
    try:
        inferior = gdb.selected_inferior()
        if inferior.pid and inferior.connection and inferior.connection.type == "native":
            return inferior.pid
    except gdb.error:
        pass
    return 0


def mappings(pid):
    try:
        with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as file:
            return parse_maps(file)
    except OSError:
        return []


def mapping_at(pid, address):
    for mapping in mappings(pid):
        if mapping.start <= address < mapping.end:
            return mapping
    return None


def read(address, size):
    """The bytes there, or b"" where memory is not mapped."""
    if size <= 0:
        return b""
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except (gdb.error, OverflowError):
        return b""


def register(name):
    return int(gdb.parse_and_eval("(unsigned long)$" + name)) & 0xFFFFFFFFFFFFFFFF


def write_register(name, value):
    gdb.execute("set var $%s = (unsigned long)%#x" % (name, value))


def syscall_instruction(pid):
    """The address of a syscall instruction in the program: the vdso always holds one."""
    for mapping in mappings(pid):
        if mapping.name == "[vdso]":
            at = read(mapping.start, mapping.end - mapping.start).find(b"\x0f\x05")
            return mapping.start + at if at >= 0 else None
    return None
