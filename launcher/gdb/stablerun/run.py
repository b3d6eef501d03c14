"""A kept run as the commands need it: run.json, code.elf, and the profile that annotate makes."""

import bisect
import json
import os
import subprocess

from . import elf


class Trouble(Exception):
    """What a user is told, in one line."""


class Instruction:
    def __init__(self, function, entry):
        self.function = function
        self.address = int(entry["address"], 16)
        self.bytes = bytes.fromhex(entry.get("bytes", ""))
        self.text = entry.get("text", "")
        self.samples = entry.get("samples", 0)
        self.line = entry.get("line")
        self.file = entry.get("file") or function.module
        self.patches = entry.get("patches") or []

    @property
    def offset(self):
        return self.address - self.function.address


class Function:
    def __init__(self, entry):
        self.name = entry["name"]
        self.kind = entry["kind"]
        self.module = entry.get("module", "")
        self.address = int(entry["address"], 16)
        self.size = entry["size"]
        self.samples = entry["samples"]
        self.instructions = [Instruction(self, i) for i in entry.get("instructions", [])]


class Run:
    """Raises Trouble where the directory is no run."""

    def __init__(self, path, program):
        self.path = os.path.abspath(os.path.expanduser(path))
        self.program = program
        try:
            with open(os.path.join(self.path, "run.json"), encoding="utf-8") as file:
                self.facts = json.load(file)
        except OSError as error:
            raise Trouble("cannot read run '%s': %s" % (path, error.strerror))
        except ValueError as error:
            raise Trouble("'%s/run.json': %s" % (path, error))
        self.code = self._read_code()
        self._profile = None

    def _read_code(self):
        path = os.path.join(self.path, "code.elf")
        try:
            return elf.Code(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Trouble("cannot read '%s': %s" % (path, error.strerror))
        except elf.Malformed as error:
            raise Trouble(str(error))

    @property
    def profile(self):
        """The run's profile, made by annotate at the first need."""
        if self._profile is None:
            self._profile = Profile(self)
        return self._profile

    def has_samples(self):
        return os.path.exists(os.path.join(self.path, "perf.data"))

    def annotate(self, *arguments):
        """Runs annotate on this run; gives its stdout."""
        command = [self.program, "annotate", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = done.stderr.strip().splitlines() or ["annotate failed"]
            raise Trouble(lines[-1])
        return done.stdout


class Profile:
    """annotate --json of a run, indexed by address."""

    def __init__(self, run):
        if not run.has_samples():
            raise Trouble("run '%s' has no samples: record it with `stablerun perf`" % run.path)
        try:
            report = json.loads(run.annotate("--json", "--all", run.path))
        except ValueError as error:
            raise Trouble("annotate's answer is no JSON: %s" % error)
        self.samples = report.get("samples", 0)
        self.functions = sorted(
            (Function(entry) for entry in report.get("functions", [])),
            key=lambda function: function.address,
        )
        self._starts = [function.address for function in self.functions]
        self.instructions = [i for f in self.functions for i in f.instructions]
        self._by_address = {i.address: i for i in self.instructions}

    def function_at(self, address):
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        function = self.functions[at]
        return function if address < function.address + function.size else None

    def instruction_at(self, address):
        return self._by_address.get(address)

    def hottest(self, count, kind=None):
        """The instructions with most samples, most first."""
        chosen = [
            i for i in self.instructions if i.samples and kind in (None, i.function.kind)
        ]
        chosen.sort(key=lambda i: (-i.samples, i.address))
        return chosen[:count]

    def share(self, samples):
        return 100.0 * samples / self.samples if self.samples else 0.0
