"""The `stablerun` commands of gdb."""

import os
import re
import subprocess

import gdb

from . import check, frames, memory, session
from .pending import Wanted
from .run import Run, Trouble

FRAMES = None
FIRST_STOP = None


def parse_address(text):
    try:
        return int(gdb.parse_and_eval("(unsigned long)(%s)" % text)) & 0xFFFFFFFFFFFFFFFF
    except gdb.error as error:
        raise Trouble("no address '%s': %s" % (text, error))


class Command(gdb.Command):
    """A subcommand; Trouble becomes gdb's one-line error."""

    name = ""
    kind = gdb.COMMAND_USER
    completes = gdb.COMPLETE_NONE

    def __init__(self):
        super().__init__("stablerun " + self.name, self.kind, self.completes)

    def invoke(self, argument, from_tty):
        try:
            self.do(argument.strip())
        except Trouble as trouble:
            raise gdb.GdbError(str(trouble))

    def do(self, argument):
        raise NotImplementedError


class Prefix(gdb.Command):
    """A kept run laid over this session: profile, breakpoints before code exists, comparison."""

    def __init__(self):
        super().__init__("stablerun", gdb.COMMAND_USER, gdb.COMPLETE_NONE, True)


class Load(Command):
    """Lay a kept run over this session: stablerun load RUN

Its symbols are added, its profile answers info, hot and list, and addresses are compared
with it at the first stop and before exit."""

    name = "load"
    kind = gdb.COMMAND_FILES
    completes = gdb.COMPLETE_FILENAME

    def do(self, argument):
        if not argument:
            raise Trouble("usage: stablerun load RUN")
        session.run = Run(argument, session.program)
        if session.run.code is None:
            print("stablerun: the run has no code.elf: JIT frames stay without names")
        elif session.run.code.symbols and not _names_itself(session.run):
            path = os.path.join(session.run.path, "code.elf")
            confirm = gdb.parameter("confirm")
            gdb.execute("set confirm off")
            try:
                gdb.execute('add-symbol-file "%s"' % path, to_string=True)
            finally:
                gdb.execute("set confirm %s" % ("on" if confirm else "off"))
        session.pending.watch_exit(FIRST_STOP.before_exit)


def _names_itself(run):
    """Whether the program hands gdb its code's names, so that the run's would be doubles."""
    for line in run.facts.get("pins") or []:
        if line.get("name") == "gdb-jit":
            return True
    return os.path.basename(run.facts.get("exec", "")) in ("jit", "stablerun-jit")


class Info(Command):
    """What the run says of an address: stablerun info [ADDRESS]

Code object and offset, samples and share, patches, and whether memory now holds the run's
bytes. ADDRESS is any expression; without it, $pc."""

    name = "info"
    kind = gdb.COMMAND_DATA
    completes = gdb.COMPLETE_EXPRESSION

    def do(self, argument):
        run = session.need_run()
        address = parse_address(argument or "$pc")
        symbol = run.code.symbol_at(address) if run.code else None
        function = instruction = None
        if run.has_samples():
            function = run.profile.function_at(address)
            instruction = run.profile.instruction_at(address)
        if not symbol and not function:
            print("%#x: nothing in the run" % address)
            return
        name, start = (
            (function.name, function.address) if function else (symbol.name, symbol.address)
        )
        print("%#x: %s+%#x" % (address, name, address - start))
        if function:
            self._samples(run.profile, function, instruction)
        if instruction:
            self._instruction(instruction)
        self._bytes(run, address, symbol)

    @staticmethod
    def _samples(profile, function, instruction):
        if instruction:
            print(
                "  samples: %d, %.2f%% of the run, %.2f%% of the function"
                % (
                    instruction.samples,
                    profile.share(instruction.samples),
                    100.0 * instruction.samples / function.samples if function.samples else 0,
                )
            )
        print(
            "  function: %d samples, %.2f%% of the run (%s, %s)"
            % (function.samples, profile.share(function.samples), function.kind, function.module)
        )

    @staticmethod
    def _instruction(instruction):
        print("  instruction: %s" % instruction.text)
        if instruction.line:
            print("  line: %s:%d" % (instruction.file, instruction.line))
        patches = instruction.patches
        count = patches if isinstance(patches, int) else len(patches)
        if count:
            print("  patched %d time%s in the run" % (count, "" if count == 1 else "s"))
            for patch in patches if isinstance(patches, list) else ():
                print("    %s" % (patch if isinstance(patch, str) else _patch_text(patch)))

    @staticmethod
    def _bytes(run, address, symbol):
        if not run.code or not symbol:
            return
        expected = run.code.read(symbol.address, symbol.size)
        found = memory.read(symbol.address, symbol.size)
        if not found:
            print("  memory: not mapped yet")
        elif len(set(found)) == 1 and found != expected:
            print("  memory: no code there yet")
        elif found == expected:
            print("  memory: equals the run's bytes (%d)" % len(expected))
        else:
            where = [i for i, (a, b) in enumerate(zip(found, expected)) if a != b]
            print(
                "  memory: differs from the run's final bytes in %d of %d, first at +%#x"
                % (len(where), len(expected), where[0] if where else len(found))
            )


def _patch_text(patch):
    return " ".join("%s=%s" % item for item in patch.items())


class Hot(Command):
    """The run's hottest instructions: stablerun hot [N]

N of them (default 10), those in JIT code and all others alike."""

    name = "hot"
    kind = gdb.COMMAND_DATA

    def do(self, argument):
        profile = session.need_run().profile
        try:
            count = int(argument) if argument else 10
        except ValueError:
            raise Trouble("no number: '%s'" % argument)
        print("%7s %9s  %-18s %s" % ("share", "samples", "address", "instruction"))
        for instruction in profile.hottest(count):
            print(
                "%6.2f%% %9d  %#-18x %s+%#x: %s"
                % (
                    profile.share(instruction.samples),
                    instruction.samples,
                    instruction.address,
                    instruction.function.name,
                    instruction.offset,
                    instruction.text,
                )
            )


class List(Command):
    """The annotated listing of a function of the run: stablerun list [-a] [FUNC|ADDRESS]

Without an argument, of the function at $pc, whose instruction is marked with =>. Long
stretches without samples are left out; -a shows them."""

    name = "list"
    kind = gdb.COMMAND_FILES

    def do(self, argument):
        profile = session.need_run().profile
        everything = argument.startswith("-a")
        if everything:
            argument = argument[2:].strip()
        pc = None
        try:
            pc = memory.register("pc")
        except gdb.error:
            if not argument:
                raise Trouble("no function given, and no program runs")
        function = (
            find_function(profile, argument) if argument else profile.function_at(pc)
        )
        if function is None:
            raise Trouble("no function of the run at %#x" % pc)
        print(
            "%s: %d samples, %.2f%%"
            % (function.name, function.samples, profile.share(function.samples))
        )
        line, skipped = None, 0
        shown = None if everything else _worth_showing(function.instructions, pc)
        for index, instruction in enumerate(function.instructions):
            if shown is not None and index not in shown:
                skipped += 1
                continue
            if skipped:
                print("   ... %d instructions without samples" % skipped)
                skipped = 0
            if instruction.line and instruction.line != line:
                line = instruction.line
                print("%s:%d" % (instruction.file, line))
            share = profile.share(instruction.samples)
            print(
                "%s %6s %7s  %#x <+%d>:\t%s"
                % (
                    "=>" if instruction.address == pc else "  ",
                    "%.2f%%" % share if instruction.samples else "",
                    instruction.samples or "",
                    instruction.address,
                    instruction.offset,
                    instruction.text,
                )
            )

        if skipped:
            print("   ... %d instructions without samples" % skipped)

    def complete(self, text, word):
        return complete_function(word)


def _worth_showing(instructions, pc, around=4):
    """Indices of the instructions with samples, of the one at pc, and of their neighbours."""
    shown = set()
    for index, instruction in enumerate(instructions):
        if instruction.samples or instruction.address == pc:
            shown.update(range(index - around, index + around + 1))
    gaps = sorted(shown)
    for low, high in zip(gaps, gaps[1:]):
        if high - low <= 6:
            shown.update(range(low, high))
    return shown


def complete_function(word):
    if session.run is None or not session.run.has_samples():
        return gdb.COMPLETE_NONE
    return [f.name for f in session.run.profile.functions if f.name.startswith(word)]


def find_function(profile, text):
    """The function so named: the exact name, else the only (or the hottest) that contains it."""
    if re.fullmatch(r"\*?0x[0-9a-fA-F]+", text):
        function = profile.function_at(int(text.lstrip("*"), 16))
        if function is None:
            raise Trouble("no function of the run at %s" % text)
        return function
    exact = [f for f in profile.functions if f.name == text]
    found = exact or [f for f in profile.functions if text in f.name]
    if not found:
        raise Trouble("no function '%s' in the run" % text)
    return max(found, key=lambda function: function.samples)


class Break(Command):
    """Break in code of the run, also before it exists: stablerun break WHERE

WHERE is FUNC, FUNC+OFFSET, *ADDRESS, or FILE.py:LINE. Where the code is not there yet, the
breakpoint is set at the moment when it appears: when the runtime registers it with gdb, or
when the memory becomes executable and holds the run's bytes."""

    name = "break"
    kind = gdb.COMMAND_BREAKPOINTS

    def do(self, argument):
        run = session.need_run()
        for address, label in self._resolve(run, argument):
            start, expected = self._object(run, address)
            wanted = Wanted(address, label, start, expected)
            session.pending.add(wanted)
            if wanted.breakpoint is None:
                print("Breakpoint at %s (%#x) pending until its code exists." % (label, address))

    @staticmethod
    def _object(run, address):
        """The code object of JIT code, to be recognised when it appears."""
        symbol = run.code.symbol_at(address) if run.code else None
        if symbol:
            return symbol.address, run.code.read(symbol.address, symbol.size)
        # Code without a name (a runtime that tells none): known by what stands around.
        bytes_before = 8 if run.code and run.code.read(address - 8, 8) else 0
        expected = run.code.read(address - bytes_before, 40) if run.code else b""
        return address - bytes_before, expected

    def _resolve(self, run, text):
        if text.startswith("*"):
            address = parse_address(text[1:])
            symbol = run.code.symbol_at(address) if run.code else None
            label = "%s+%#x" % (symbol.name, address - symbol.address) if symbol else text
            return [(address, label)]
        line = re.fullmatch(r"(.+):(\d+)", text)
        if line:
            return self._line(run.profile, line.group(1), int(line.group(2)))
        name, _, offset = text.partition("+")
        if not name:
            raise Trouble("usage: stablerun break FUNC[+OFFSET]|*ADDRESS|FILE:LINE")
        address, name = self._function(run, name.strip())
        try:
            address += int(offset, 0) if offset else 0
        except ValueError:
            raise Trouble("no offset: '%s'" % offset)
        return [(address, text)]

    @staticmethod
    def _function(run, name):
        if run.has_samples():
            try:
                function = find_function(run.profile, name)
                return function.address, function.name
            except Trouble:
                if not run.code:
                    raise
        symbols = run.code.symbols if run.code else []
        found = [s for s in symbols if s.name == name] or [s for s in symbols if name in s.name]
        if not found:
            raise Trouble("no function '%s' in the run" % name)
        return found[0].address, found[0].name

    @staticmethod
    def _line(profile, file, line):
        found = []
        for function in profile.functions:
            for instruction in function.instructions:
                if instruction.line == line and os.path.basename(
                    instruction.file
                ) == os.path.basename(file):
                    found.append((instruction.address, "%s:%d" % (file, line)))
                    break
        if not found:
            raise Trouble("no code of '%s:%d' in the run" % (file, line))
        return found

    def complete(self, text, word):
        return complete_function(word)


class Diff(Command):
    """This session's JIT code against the run's final code: stablerun diff

Names each code object whose bytes differ so far (patchpoints not yet patched as they were at
exit, other code), and counts those that are equal or not there yet."""

    name = "diff"
    kind = gdb.COMMAND_DATA

    def do(self, argument):
        run = session.need_run()
        if not run.code:
            raise Trouble("the run has no code.elf")
        if not memory.live_pid():
            raise Trouble("no program runs")
        equal = absent = 0
        for symbol in run.code.symbols:
            expected = run.code.read(symbol.address, symbol.size)
            found = memory.read(symbol.address, symbol.size)
            if len(found) < len(expected) or len(set(found)) == 1:
                absent += 1  # not mapped, or filled with one byte (int3, zero) so far
            elif found == expected:
                equal += 1
            else:
                self._show(symbol, found, expected)
        print("%d code objects equal, %d not there yet" % (equal, absent))

    @staticmethod
    def _show(symbol, found, expected):
        places = [i for i, (a, b) in enumerate(zip(found, expected)) if a != b]
        if len(places) > len(expected) // 2:
            print("%#x %s: other code" % (symbol.address, symbol.name))
            return
        print("%#x %s: %d bytes differ" % (symbol.address, symbol.name, len(places)))
        for first, last in _spans(places)[:8]:
            print(
                "    +%#x: %s here, %s in the run"
                % (first, found[first : last + 1].hex(" "), expected[first : last + 1].hex(" "))
            )


def _spans(places):
    spans = []
    for place in places:
        if spans and place <= spans[-1][1] + 4:
            spans[-1][1] = place
        else:
            spans.append([place, place])
    return spans


class Save(Command):
    """Keep this session's process as a RUN: stablerun save RUN

Its command, environment, limits and maps, and its code as it is now, for annotate, for
`stablerun diff` and for later sessions."""

    name = "save"
    kind = gdb.COMMAND_FILES
    completes = gdb.COMPLETE_FILENAME

    def do(self, argument):
        pid = memory.live_pid()
        if not argument:
            raise Trouble("usage: stablerun save RUN")
        if not pid:
            raise Trouble("no program runs")
        command = [session.program, "gdb", "--save=%d" % pid, os.path.expanduser(argument)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Trouble((done.stderr.strip() or "stablerun failed").splitlines()[-1])
        print("stablerun: kept in '%s'" % argument)


class Check(Command):
    """Compare this session's addresses with the run's now: stablerun check"""

    name = "check"
    kind = gdb.COMMAND_DATA

    def do(self, argument):
        check.report(session.need_run(), "now")


class Program(gdb.Parameter):
    """The stablerun program that answers for runs."""

    set_doc = "Set the stablerun program that the stablerun commands call."
    show_doc = "Show the stablerun program that the stablerun commands call."

    def __init__(self):
        super().__init__("stablerun-program", gdb.COMMAND_FILES, gdb.PARAM_FILENAME)
        self.value = "stablerun"
        session.program = self.value

    def get_set_string(self):
        session.program = self.value
        return ""


def register():
    """Adds the commands; to be called once."""
    global FRAMES, FIRST_STOP
    Prefix()
    Program()
    for command in (Load, Info, Hot, List, Break, Diff, Save, Check):
        command()
    FIRST_STOP = check.FirstStop(session)
    FRAMES = frames.JitUnwinder(session)
    gdb.unwinder.register_unwinder(None, FRAMES, replace=True)
