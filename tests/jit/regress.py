"""Runs modules of CPython's own test suite under the jit and compares with CPython.

    regress.py [OPTION...] PROGRAM [MODULE...]

Each module runs under this Python and under PROGRAM; every test must come out alike: passed,
failed, in error or skipped. A line of a list is a module's name, the word `slow` where a quick
run leaves it out, and -PATTERN for tests of it that are left out. Prints `PASS: module`, `FAIL: module` with the tests that differ,
or `SKIP: module: reason`; exit status 1 when one failed.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree

# The name of a test can hold the address of an object.
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Outcome:
    """What one module's run came to: a status in words, and each test's result."""

    def __init__(self, status, cases, log, seconds):
        self.status = status
        self.cases = cases
        self.log = log
        self.seconds = seconds


def read_cases(path):
    """Maps each test of a JUnit file to its result; several results of one name are joined."""
    cases = {}
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return cases
    for case in root.iter("testcase"):
        name = ADDRESS.sub("", case.get("name", "?"))
        result = "passed"
        for kind in ("failure", "error", "skipped"):
            if case.find(kind) is not None:
                result = kind
        cases.setdefault(name, []).append(result)
    return {name: " ".join(sorted(results)) for name, results in cases.items()}


def describe(status):
    if status is None:
        return "timed out"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"status {status}"


class Module:
    """A line of a list: `name [slow] [-PATTERN...]`."""

    def __init__(self, line):
        self.name, *words = line.split()
        self.slow = "slow" in words
        self.left_out = [word[1:] for word in words if word.startswith("-")]

    def arguments(self):
        return [f"--ignore={pattern}" for pattern in self.left_out] + [self.name]


def run_module(command, module, arguments):
    """Runs one module in a directory and process group of its own."""
    with tempfile.TemporaryDirectory(prefix="stablerun-regress.") as directory:
        results = os.path.join(directory, "results.xml")
        log = os.path.join(directory, "log")
        argv = [*command, "-m", "test", "--junit-xml", results, "--tempdir", directory]
        argv += module.arguments()
        begin = time.monotonic()
        with open(log, "wb") as output:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=directory,
                env=arguments.environment,
                start_new_session=True,
            )
            try:
                status = process.wait(arguments.timeout)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
        seconds = time.monotonic() - begin
        cases = read_cases(results)
        with open(log, encoding="utf-8", errors="replace") as text:
            return Outcome(describe(status), cases, text.read(), seconds)


def differences(expected, got):
    lines = []
    if expected.status != got.status:
        lines.append(f"{got.status}, not {expected.status}")
    for name in sorted(expected.cases.keys() | got.cases.keys()):
        want = expected.cases.get(name, "not run")
        have = got.cases.get(name, "not run")
        if want != have and got.cases:
            lines.append(f"{name}: {have}, not {want}")
    return lines


def needs_leaving_out(outcome):
    """A module that this Python cannot run here: the reason, or None."""
    if "No module named" in outcome.log and not outcome.cases:
        return "not installed (package libpython3.11-testsuite)"
    if outcome.status == "timed out":
        return "times out under this Python too"
    return None


printing = threading.Lock()


def report(verdict, title, lines, arguments):
    with printing:
        print(f"{verdict}: {title}")
        for line in lines[: arguments.lines]:
            print(f"    {line}")
        if len(lines) > arguments.lines:
            print(f"    and {len(lines) - arguments.lines} more")
        sys.stdout.flush()


def check_variant(module, expected, options, arguments):
    """Runs the module with these options of the program; whether it came out as expected."""
    command = [arguments.program, *options.split()]
    got = run_module(command, module, arguments)
    lines = differences(expected, got)
    crashed = got.status.startswith("killed")
    if lines and not crashed:
        # Some modules measure time and fail on a loaded machine, under any Python.
        expected = run_module([sys.executable], module, arguments)
        got = run_module(command, module, arguments)
        lines = differences(expected, got)
    if arguments.logs and lines:
        os.makedirs(arguments.logs, exist_ok=True)
        name = f"{module.name}{options.replace('/', '_')}.log"
        with open(os.path.join(arguments.logs, name), "w") as log:
            log.write(got.log)
    if lines and (crashed or not got.cases):
        lines += ["| " + line for line in got.log.splitlines()[-arguments.lines :]]
    passed = sum(result == "passed" for result in got.cases.values())
    title = f"{module.name} {options}".rstrip()
    times = f"{passed} passed; {expected.seconds:.1f} s, jit {got.seconds:.1f} s"
    report("FAIL" if lines else "PASS", f"{title} ({times})", lines, arguments)
    return not lines


def check(module, arguments):
    expected = run_module([sys.executable], module, arguments)
    reason = needs_leaving_out(expected)
    if reason:
        report("SKIP", f"{module.name}: {reason}", [], arguments)
        return True
    results = [
        check_variant(module, expected, options, arguments) for options in arguments.options
    ]
    return all(results)


def read_list(path):
    with open(path) as lines:
        return [Module(text) for line in lines if (text := line.split("#")[0].strip())]


def parse(argv):
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("program")
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--list", action="append", default=[], metavar="FILE")
    parser.add_argument(
        "--options",
        action="append",
        help="options of PROGRAM; given several times, each module runs with each",
    )
    parser.add_argument(
        "--leave-out", action="append", default=[], metavar="PATTERN", help="tests not to run"
    )
    parser.add_argument("--quick", action="store_true", help="without the slow modules")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=600, help="seconds a module")
    parser.add_argument("--lines", type=int, default=12, help="lines shown of a difference")
    parser.add_argument("--logs", metavar="DIRECTORY", help="keep failing modules' output")
    arguments = parser.parse_intermixed_args(argv)
    arguments.program = shutil.which(os.path.abspath(arguments.program)) or parser.error(
        f"cannot run '{arguments.program}'"
    )
    arguments.options = arguments.options or ["--threshold=1"]
    arguments.modules = [Module(name) for name in arguments.modules]
    for path in arguments.list:
        arguments.modules += read_list(path)
    for module in arguments.modules:
        module.left_out += arguments.leave_out
    if arguments.quick:
        arguments.modules = [module for module in arguments.modules if not module.slow]
    drop = ("PYTHON", "LC_", "MAKE", "MFLAGS")
    arguments.environment = {
        name: value for name, value in os.environ.items() if not name.startswith(drop)
    }
    arguments.environment["LC_ALL"] = "C.UTF-8"
    return arguments


def main(argv):
    arguments = parse(argv)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda module: check(module, arguments), arguments.modules))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
