"""Compares this session's addresses with the run's, and names what differs."""

import os
import re

import gdb

from . import memory

AUXV_NAMES = {
    3: "AT_PHDR",
    7: "AT_BASE",
    9: "AT_ENTRY",
    25: "AT_RANDOM",
    31: "AT_EXECFN",
    33: "AT_SYSINFO_EHDR",
}
PSEUDO = ("[stack]", "[heap]", "[vdso]")


def _first_addresses(mappings, pids):
    """name -> lowest address, for files and for what the kernel names. A process' own number
    in a file's name (a jitdump's) counts as the word PID."""
    found = {}
    for mapping in mappings:
        if mapping.name.startswith("/") or mapping.name in PSEUDO:
            start = mapping.end if mapping.name == "[stack]" else mapping.start
            name = mapping.name
            for pid in pids:
                name = re.sub(r"\b%d\b" % pid, "PID", name)
            found.setdefault(name, start)
    return found


def run_maps(run):
    """The run's mappings, those at exit where they were kept, else those at the start."""
    for name in ("maps.exit", "maps.start"):
        try:
            path = os.path.join(run.path, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                found = memory.parse_maps(file)
        except OSError:
            continue
        if found:
            return found
    return []


def _auxv(pid):
    try:
        with open("/proc/%d/auxv" % pid, "rb") as file:
            data = file.read()
    except OSError:
        return {}
    pairs = [
        (int.from_bytes(data[i : i + 8], "little"), int.from_bytes(data[i + 8 : i + 16], "little"))
        for i in range(0, len(data) - 15, 16)
    ]
    return {AUXV_NAMES[key]: value for key, value in pairs if key in AUXV_NAMES}


def differences(run, pid):
    """What lies elsewhere than in the run: (lines that say so, number of things compared)."""
    lines, compared = [], 0
    theirs = run.facts.get("auxv") or {}
    for name, value in _auxv(pid).items():
        expected = theirs.get(name) or theirs.get(name[3:].lower())
        if expected is None:
            continue
        compared += 1
        expected = int(str(expected), 16)
        if value != expected:
            lines.append("%s is at %#x, in the run at %#x" % (name, value, expected))
    here = _first_addresses(memory.mappings(pid), [pid])
    pids = run.facts.get("pids") or [run.facts.get("pid", 0)]
    there = _first_addresses(run_maps(run), [p for p in pids if p])
    for name, address in here.items():
        if name not in there:
            # A jitdump is only mapped for a moment, as a sign for perf.
            if name.startswith("/") and "PID" not in name and there:
                lines.append("'%s' is mapped here and was not in the run" % name)
            continue
        compared += 1
        if address != there[name]:
            edge = "ends" if name == "[stack]" else "begins"
            lines.append(
                "%s %s at %#x, in the run at %#x" % (name, edge, address, there[name])
            )
    lines += _changed_files(run)
    return lines, compared


def _changed_files(run):
    """Files of the run whose build-id differs on this machine now."""
    lines = []
    for path, wanted in (run.facts.get("build_ids") or {}).items():
        found = build_id(path)
        if found is None and path.startswith("/") and not os.path.exists(path):
            lines.append("'%s' of the run does not exist here" % path)
        elif found and wanted and found != wanted:
            lines.append("'%s' is another build (build-id %s, in the run %s)" % (path, found, wanted))
    return lines


def build_id(path):
    """The GNU build-id of an ELF file as hex, or None."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:6] != b"\x7fELF\x02\x01":
                return None
            table = int.from_bytes(head[32:40], "little")
            entry = int.from_bytes(head[54:56], "little")
            count = int.from_bytes(head[56:58], "little")
            for index in range(count):
                file.seek(table + index * entry)
                header = file.read(56)
                if len(header) == 56 and int.from_bytes(header[:4], "little") == 4:  # PT_NOTE
                    file.seek(int.from_bytes(header[8:16], "little"))
                    size = min(int.from_bytes(header[32:40], "little"), 1 << 16)
                    found = _find_build_id(file.read(size))
                    if found:
                        return found
    except (OSError, ValueError, OverflowError):
        pass
    return None


def _find_build_id(notes):
    at = 0
    while at + 12 <= len(notes):
        name_size, size, kind = (
            int.from_bytes(notes[at + i : at + i + 4], "little") for i in (0, 4, 8)
        )
        name = at + 12
        value = name + (name_size + 3 & ~3)
        if kind == 3 and notes[name : name + 4] == b"GNU\0":
            return notes[value : value + size].hex()
        at = value + (size + 3 & ~3)
    return None


def report(run, when):
    """Prints the verdict of one comparison."""
    pid = memory.live_pid()
    if not pid:
        print("stablerun: no live process to compare")
        return False
    lines, compared = differences(run, pid)
    if not lines:
        print("stablerun: %s: %d addresses compared, all as in the run" % (when, compared))
        return True
    print("stablerun: %s: not as in the run '%s':" % (when, run.path))
    for line in lines[:20]:
        print("  " + line)
    if len(lines) > 20:
        print("  and %d more" % (len(lines) - 20))
    return False


class FirstStop:
    """Compares once at the first stop of each process, and again before it exits."""

    def __init__(self, session):
        self._session = session
        self._seen = 0
        gdb.events.stop.connect(self._on_stop)

    def _on_stop(self, event):
        pid = memory.live_pid()
        if not pid or pid == self._seen or self._session.run is None:
            return
        if self._session.pending.is_internal(event):
            return
        self._seen = pid
        report(self._session.run, "at the first stop")

    def before_exit(self):
        if self._session.run is not None:
            report(self._session.run, "before exit")
