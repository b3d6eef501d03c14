"""Unwinds JIT frames of runtimes that tell gdb nothing about them.

Two ways, tried in order: the chain of frame pointers, where rbp still holds one; else the
nearest word up the stack that can only be a return address (it lies behind a call instruction
in executable memory), with the registers that a prologue pushed right below it. The second is
what code without a frame of its own needs, such as a LuaJIT trace, which runs in the frame of
the C function that entered it (its prologue pushes rbp, rbx, r15, r14 in this order)."""

import struct

import gdb
from gdb.unwinder import Unwinder

from . import memory
from .pending import symbol_address

SCAN_WORDS = 512  # how far up the stack a return address is looked for
PUSHED_AFTER_RETURN = ("rbp", "rbx", "r15", "r14")


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class JitUnwinder(Unwinder):
    """For program counters in executable memory that no file explains."""

    def __init__(self, session):
        super().__init__("stablerun")
        self._session = session
        self._maps = []
        self._pid = 0
        self._builtins = {}  # pc -> is it one
        gdb.events.stop.connect(self._forget)
        gdb.events.cont.connect(self._forget)
        gdb.events.memory_changed.connect(self._forget)

    def _forget(self, event):
        self._maps = []

    def __call__(self, pending_frame):
        pc = self._register(pending_frame, "rip")
        if not self._is_jit_code(pc):
            return None
        sp = self._register(pending_frame, "rsp")
        fp = self._register(pending_frame, "rbp")
        return self._by_frame_pointer(pending_frame, pc, sp, fp) or self._by_scan(
            pending_frame, pc, sp, fp
        )

    @staticmethod
    def _register(pending_frame, name):
        return int(pending_frame.read_register(name)) & 0xFFFFFFFFFFFFFFFF

    def _mappings(self):
        pid = memory.live_pid()
        if pid != self._pid or not self._maps:
            self._pid, self._maps = pid, memory.mappings(pid) if pid else []
        return self._maps

    def _mapping(self, address):
        for mapping in self._mappings():
            if mapping.start <= address < mapping.end:
                return mapping
        return None

    def _is_builtin(self, pc):
        """V8's builtins lie in the program's file, made by its JIT at build time: they have
        symbols and frame pointers, but no unwind information."""
        if pc not in self._builtins:
            symbol = gdb.execute("info symbol %#x" % pc, to_string=True)
            self._builtins[pc] = symbol.startswith("Builtins_")
        return self._builtins[pc]

    def _is_jit_code(self, pc):
        mapping = self._mapping(pc)
        if mapping is not None:
            return mapping.anonymous_code or (
                symbol_address("Builtins_JSEntry") is not None and self._is_builtin(pc)
            )
        run = self._session.run
        # A core file has no live mappings: the run's code tells.
        return bool(not self._maps and run and run.code and run.code.read(pc, 1))

    def _is_code(self, address):
        mapping = self._mapping(address)
        if mapping is not None:
            return mapping.executable
        return not self._maps and bool(memory.read(address, 1))

    def _is_return_address(self, address):
        if address < memory.PAGE or address >= 1 << 47 or not self._is_code(address):
            return False
        before = memory.read(address - 7, 7)
        if len(before) < 7:
            return False
        # call rel32; call r/m64 with its ModRM forms of 2, 3, 6 and 7 bytes (opcode FF /2).
        if before[2] == 0xE8:
            return True
        return any(
            before[7 - size] == 0xFF and before[8 - size] >> 3 & 7 == 2 for size in (2, 3, 4, 6, 7)
        )

    @staticmethod
    def _words(address, count):
        for size in (count, 64, 8, 2):
            data = memory.read(address, size * 8) if size <= count else b""
            if data:
                return struct.unpack("<%dQ" % size, data)
        return ()

    def _by_frame_pointer(self, pending_frame, pc, sp, fp):
        if fp < sp or fp - sp > 1 << 20 or fp % 8:
            return None
        words = self._words(fp, 2)
        if len(words) < 2 or not self._is_return_address(words[1]):
            return None
        if words[0] and words[0] <= fp:
            return None
        return self._info(pending_frame, pc, fp + 16, words[1], {"rbp": words[0]})

    def _by_scan(self, pending_frame, pc, sp, fp):
        words = self._words(sp, SCAN_WORDS)
        for at, word in enumerate(words):
            if not self._is_return_address(word):
                continue
            saved = {"rbp": fp}
            for back, name in enumerate(PUSHED_AFTER_RETURN, 1):
                if at - back >= 0:
                    saved[name] = words[at - back]
            return self._info(pending_frame, pc, sp + at * 8 + 8, word, saved)
        return None

    @staticmethod
    def _info(pending_frame, pc, cfa, return_address, saved):
        word = gdb.lookup_type("unsigned long")
        info = pending_frame.create_unwind_info(FrameId(gdb.Value(cfa), gdb.Value(pc)))
        info.add_saved_register("rip", gdb.Value(return_address).cast(word))
        info.add_saved_register("rsp", gdb.Value(cfa).cast(word))
        for name, value in saved.items():
            info.add_saved_register(name, gdb.Value(value).cast(word))
        return info
