"""Breakpoints in code that does not exist yet.

At the same addresses as in a kept run, an address is known before its code is written. A
software breakpoint cannot be put there early (the memory is not mapped, or the JIT would
overwrite it), so this waits for the code, by the cheapest way that works:

 1. runtimes that register code with gdb call __jit_debug_register_code: an internal
    breakpoint there looks whether a wanted address now holds its code;
 2. others make memory executable by mmap or mprotect: a system call catchpoint looks then;
 3. where that memory stays writable, code appears without a system call: its pages are only
    ever writable or executable, and the fault at each change is the moment to look;
 4. where it is written through another mapping, its pages are made unexecutable: whatever
    runs there faults first, and is looked at.

Ways 2 to 4 stop the program invisibly. All such stops run through one loop, so that to the
user (and to a batch of commands) a `run` or `continue` ends only where something of theirs
happened. Hardware breakpoints would need none of this, but do not fire in many virtual
machines."""

import gdb

from . import memory

REGISTER = "__jit_debug_register_code"
SYSCALL_CLOBBERS = ("rip", "rax", "rdi", "rsi", "rdx", "rcx", "r11", "orig_rax")
SYSCALL_SIZE = 2
INSTRUCTION_MOST = 15
ENTERING_SYSCALL = (1 << 64) - 38  # rax is -ENOSYS until a system call is made
NO_SYSCALL = (1 << 64) - 1
SYS_MMAP, SYS_MPROTECT, SYS_PKEY_MPROTECT, SYS_EXIT_GROUP = 9, 10, 329, 231
FAULT_ADDRESS = "(unsigned long)$_siginfo._sifields._sigfault.si_addr"
# A match is asked of the instruction itself and of most of its code object: patchpoints and
# embedded addresses may still differ from the bytes at exit.
SAME_SHARE = 0.6
INSTRUCTION_START = 4


class Wanted:
    """An address to stop at, and the bytes that tell that its code is there."""

    def __init__(self, address, label, start, expected):
        self.address = address
        self.label = label
        self.start = start  # of the code object
        self.expected = expected  # its bytes in the run, or b"" where the run kept none
        self.breakpoint = None

    def is_here(self):
        if not self.expected:
            mapping = memory.mapping_at(memory.live_pid(), self.address)
            return mapping is not None and mapping.executable
        found = memory.read(self.start, len(self.expected))
        if len(found) < len(self.expected):
            return False
        at = self.address - self.start
        end = at + INSTRUCTION_START
        if found[at:end] != self.expected[at:end]:
            return False
        same = sum(a == b for a, b in zip(found, self.expected))
        return same >= SAME_SHARE * len(found)

    def pages(self):
        last = self.start + max(len(self.expected), 1) - 1
        return range(self.start // memory.PAGE, last // memory.PAGE + 1)


class RegisterHook(gdb.Breakpoint):
    def __init__(self, pending):
        super().__init__(REGISTER, internal=True)
        self.silent = True
        self._pending = pending

    def stop(self):
        self._pending.look()
        return False


class Step(gdb.Breakpoint):
    """Where a thread that is let run on comes to."""

    def __init__(self, address, thread):
        super().__init__("*%#x" % address, internal=True, temporary=True)
        self.silent = True
        self.thread = thread


class OurFault(gdb.Function):
    """$_stablerun_fault(): 1 where the SIGSEGV at hand is a write to a watched page."""

    def __init__(self, pending):
        super().__init__("_stablerun_fault")
        self._pending = pending

    def invoke(self):
        return int(self._pending.watches(self._pending.fault_address()))


class Pending:
    """All wanted breakpoints of the session. One object; its catchpoints name it."""

    def __init__(self, name):
        self._name = name  # how gdb's commands reach this object
        self._wanted = []
        self._watched = {}  # page number -> protection that the program asked for
        self._hook = None
        self._syscalls = None  # numbers of the catchpoints
        self._faults = None
        self._exits = None
        self._event = None  # the stop being looked at
        self._busy = False
        self.before_exit = None  # called when the program is about to exit
        OurFault(self)
        gdb.events.stop.connect(self._on_event)
        gdb.events.exited.connect(self._on_exited)
        gdb.events.new_objfile.connect(lambda event: self._hook_up())

    def add(self, wanted):
        """Takes `wanted`: sets its breakpoint now, or when its code appears."""
        self._wanted.append(wanted)
        if memory.live_pid() and wanted.is_here():
            self._set(wanted)
            return
        self._hook_up()
        if not self._program_registers() and self._syscalls is None:
            self._syscalls = self._catch("syscall mmap mprotect pkey_mprotect")
            self._faults = self._catch("signal SIGSEGV", "$_stablerun_fault()")
        self._watch_existing(wanted)

    def watch_exit(self, callback):
        self.before_exit = callback
        if self._exits is None:
            self._exits = self._catch("syscall exit_group")

    def waiting(self):
        return [wanted for wanted in self._wanted if wanted.breakpoint is None]

    def watches(self, address):
        return address // memory.PAGE in self._watched

    def look(self):
        """Sets the breakpoints whose code has appeared."""
        for wanted in self.waiting():
            if wanted.is_here():
                self._set(wanted)

    def on_stop(self):
        """A catchpoint of ours was hit: deals with it, and goes on until a stop is the user's."""
        if self._busy:
            return
        self._busy = True
        try:
            while self._handle():
                # A handler that let the program run may have ended at the next stop already.
                if self._event is None:
                    gdb.execute("continue")
        finally:
            self._busy = False

    # What gdb tells

    def _on_event(self, event):
        self._event = event

    def _on_exited(self, event):
        self._event = None
        self._watched.clear()
        for wanted in self._wanted:
            if wanted.breakpoint is not None and wanted.breakpoint.is_valid():
                wanted.breakpoint.delete()
            wanted.breakpoint = None

    # Putting the traps in place

    def _hook_up(self):
        if self._hook is None and self.waiting() and symbol_address(REGISTER) is not None:
            self._hook = RegisterHook(self)

    @staticmethod
    def _program_registers():
        """Whether the program itself (not just a library of it) has the register function."""
        place = symbol_address(REGISTER)
        if place is None or not gdb.current_progspace().filename:
            return False
        return gdb.solib_name(place) is None

    def _catch(self, what, condition=None):
        number = int(gdb.execute("catch " + what, to_string=True).split()[1])
        if condition:
            gdb.execute("condition %d %s" % (number, condition), to_string=True)
        gdb.execute(
            "commands %d\nsilent\npython %s.on_stop()\nend" % (number, self._name),
            to_string=True,
        )
        return number

    def _enable(self, on):
        verb = "enable" if on else "disable"
        for number in (self._syscalls, self._faults, self._exits):
            if number is not None:
                gdb.execute("%s %d" % (verb, number), to_string=True)

    def _set(self, wanted):
        self._make_writable(wanted.address)
        wanted.breakpoint = gdb.Breakpoint("*%#x" % wanted.address)
        for page in list(self._watched):
            if not any(page in other.pages() for other in self.waiting()):
                self._protect(page, self._watched.pop(page))

    def _make_writable(self, address):
        """Lets gdb write its breakpoint into shared memory, which the kernel only allows a
        debugger where the mapping itself is writable (private memory is copied instead)."""
        mapping = memory.mapping_at(memory.live_pid(), address)
        if mapping is None or mapping.mode[3:] != "s" or "w" in mapping.mode:
            return
        page = address // memory.PAGE
        self._protect(page, mapping.protection | memory.PROT_WRITE)
        self._watched.pop(page, None)

    # The stops

    def is_internal(self, event):
        """Whether a stop is one that the user never asked for and never sees."""
        if isinstance(event, gdb.BreakpointEvent):
            ours = (self._syscalls, self._faults, self._exits)
            return all(b.number in ours or isinstance(b, Step) for b in event.breakpoints)
        return isinstance(event, gdb.SignalEvent) and event.stop_signal == "SIGSEGV" and (
            self.watches(self.fault_address())
        )

    def _handle(self):
        """Deals with the stop at hand; False where it is the user's."""
        event, self._event = self._event, None
        if event is None or not self.is_internal(event):
            return False
        if isinstance(event, gdb.SignalEvent):
            return self._on_fault()
        if any(b.number == self._faults for b in event.breakpoints):
            return self._on_fault()
        return self._on_syscall()

    def _on_syscall(self):
        number, result = memory.register("orig_rax"), memory.register("rax")
        first, length, protection = (memory.register(r) for r in ("rdi", "rsi", "rdx"))
        if number == SYS_EXIT_GROUP:
            if self.before_exit:
                self.before_exit()
            return True
        failed = result >= 0xFFFFFFFFFFFFF000
        if number == SYS_MMAP:
            start = result
        elif number in (SYS_MPROTECT, SYS_PKEY_MPROTECT):
            start = first
        else:
            return False
        if not failed:
            self._protected(start, length, protection)
        return True

    def _protected(self, start, length, protection):
        """The program has just given [start, start+length) this protection."""
        first, end = start // memory.PAGE, -(-(start + length) // memory.PAGE)
        for page in [page for page in self._watched if first <= page < end]:
            del self._watched[page]
        if not protection & memory.PROT_EXEC:
            return
        self.look()
        for wanted in self.waiting():
            for page in wanted.pages():
                if first <= page < end:
                    self._watch(page, protection)

    def _watch_existing(self, wanted):
        """Watches pages that are executable already when a breakpoint is asked for."""
        pid = memory.live_pid()
        for page in wanted.pages() if pid else ():
            mapping = memory.mapping_at(pid, page * memory.PAGE)
            if mapping and mapping.executable:
                self._watch(page, mapping.protection)

    def _watch(self, page, protection):
        if page not in self._watched and self._protect(page, trap(protection)):
            self._watched[page] = protection

    def _protect(self, page, protection):
        """mprotect() of one page, made by the selected thread; False where it fails.

        gdb's own way to call a function restores all registers afterwards, and gdb before 14
        gets the upper vector registers wrong on processors whose XSAVE layout is not Intel's.
        Here only general registers change."""
        place = memory.syscall_instruction(memory.live_pid())
        if place is None or memory.register("rax") == ENTERING_SYSCALL:
            return False
        saved = {name: memory.register(name) for name in SYSCALL_CLOBBERS}
        wanted = {
            "rax": SYS_MPROTECT,
            "rdi": page * memory.PAGE,
            "rsi": memory.PAGE,
            "rdx": protection,
            "rip": place,
            # What the kernel may otherwise take for a call to be restarted.
            "orig_rax": NO_SYSCALL,
        }
        for name, value in wanted.items():
            memory.write_register(name, value)
        try:
            self._run_to(place + SYSCALL_SIZE)
            return memory.register("rax") == 0
        finally:
            for name, value in saved.items():
                memory.write_register(name, value)

    def _on_fault(self):
        place = self.fault_address()
        if not self.watches(place):
            return False
        page = place // memory.PAGE
        # A store that lies across two pages needs both.
        gdb.execute("queue-signal 0")
        if self._watched[page] & memory.PROT_WRITE:
            self._alternate(page, place)
        else:
            self._protect(page, self._watched[page])
            self.look()
            if page in self._watched:
                self._run_out()
            if page in self._watched:
                self._protect(page, trap(self._watched[page]))
        return True

    def _alternate(self, page, place):
        """A page that may be written and executed is let do one of them at a time: code
        appears in between, while it is written, and is found when something first runs."""
        # A store that lies across two pages needs both.
        pages = [p for p in (page, page + 1) if p in self._watched]
        # It executes, also where an instruction begins on the page before.
        pc = memory.register("rip")
        runs = place == pc or (place % memory.PAGE == 0 and 0 < place - pc < INSTRUCTION_MOST)
        if runs:
            self.look()
        for each in pages if not runs else [page]:
            if each in self._watched:
                forbidden = memory.PROT_WRITE if runs else memory.PROT_EXEC
                self._protect(each, self._watched[each] & ~forbidden)

    @staticmethod
    def fault_address():
        try:
            return int(gdb.parse_and_eval(FAULT_ADDRESS))
        except gdb.error:
            return 0

    def _run_to(self, address):
        """Runs the selected thread alone until it comes to `address`."""
        Step(address, gdb.selected_thread().num)
        before = gdb.parameter("scheduler-locking")
        self._enable(False)
        try:
            gdb.execute("set scheduler-locking on")
            gdb.execute("continue", to_string=True)
            self._event = None
        finally:
            gdb.execute("set scheduler-locking %s" % before)
            self._enable(True)

    def _run_out(self):
        """Other code runs on a watched page: lets it, until it returns to its caller."""
        caller = gdb.newest_frame().older()
        if caller is None:
            return
        end = Step(caller.pc(), gdb.selected_thread().num)
        gdb.execute("continue")
        if self._event is not None and self.is_internal(self._event):
            reached = not end.is_valid()
            self._event = None if reached else self._event
        if end.is_valid():
            end.delete()


def trap(protection):
    """The protection under which the program's next touch of new code faults."""
    if protection & memory.PROT_WRITE:
        return protection & ~memory.PROT_WRITE
    return protection & ~memory.PROT_EXEC


def symbol_address(name):
    """The address of a function in the program or its libraries so far, or None."""
    try:
        return int(gdb.parse_and_eval("(unsigned long)&'%s'" % name))
    except gdb.error:
        return None
