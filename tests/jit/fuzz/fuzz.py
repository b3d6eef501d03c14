"""Compares a Python program with this Python on random programs, and shrinks what differs.

    fuzz.py [-n COUNT] [--seed FIRST] [--options OPTIONS]... [--keep DIRECTORY] PROGRAM

Each of COUNT programs (numbers FIRST, FIRST+1, …) runs under this Python and under PROGRAM with
each of the OPTIONS given; output, errors and exit status must be the same. One process runs
many programs; those of a batch that differs are run again on their own. A program that
differs is cut down to the lines that matter and printed. The last line is the total; exit
status 1 when one differed.
"""

import argparse
import concurrent.futures
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import warnings

import gen

# A program that grows beyond these under the reference is left out.
SECONDS = 2
# Programs that one child runs.
BATCH = 20
MEMORY = 400 << 20
TIMEOUT = 120


class Result:
    def __init__(self, status, output, errors):
        self.status = status
        self.output = output
        # What the interpreter complains of names functions by their addresses.
        self.errors = re.sub(rb" at 0x[0-9a-f]+", b" at ADDRESS", errors)

    def __eq__(self, other):
        return (self.status, self.output, self.errors) == (
            other.status,
            other.output,
            other.errors,
        )

    def kind(self):
        """How it ended, coarsely: a shrunk program must still end this way."""
        return "killed" if isinstance(self.status, int) and self.status < 0 else "ran"


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def is_usable(want):
    """Whether the reference's result is one to compare with."""
    ended = isinstance(want.status, int) and want.status >= 0
    return ended and b"MemoryError" not in want.output + want.errors


def run(command, path, limits=None):
    try:
        done = subprocess.run(
            [*command, path],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            preexec_fn=limits,
            env=ENVIRONMENT,
            cwd=os.path.dirname(path),
        )
    except subprocess.TimeoutExpired:
        return Result("timed out", b"", b"")
    return Result(done.returncode, done.stdout, done.stderr)


class Server:
    """A command that runs one program after the other in children (runner.py)."""

    def __init__(self, command):
        self.command = command
        self.process = None

    def start(self):
        runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runner.py")
        self.process = subprocess.Popen(
            [*self.command, runner],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )

    def run(self, paths, limited=False):
        if self.process is None:
            self.start()
        path = paths[0]
        limits = f"{SECONDS + len(paths) // 4} {MEMORY}" if limited else "0 0"
        try:
            self.process.stdin.write(f"{path} {limits} {TIMEOUT} {' '.join(paths)}\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.process = None
            return Result("the server died", b"", b"")
        status = os.waitstatus_to_exitcode(int(line))
        return Result(status, *(self.take(path + ending) for ending in (".out", ".err")))

    @staticmethod
    def take(name):
        with open(name, "rb") as file:
            data = file.read()
        os.unlink(name)
        return data

    def stop(self):
        if self.process:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()


class Servers:
    """Those of one worker, by their command."""

    def __init__(self):
        self.servers = {}

    def run(self, command, paths, limited=False):
        key = tuple(command)
        if key not in self.servers:
            self.servers[key] = Server(command)
        return self.servers[key].run(paths, limited)


WORKER = threading.local()
ALL_SERVERS = []


def servers():
    if not hasattr(WORKER, "servers"):
        WORKER.servers = Servers()
        ALL_SERVERS.append(WORKER.servers)
    return WORKER.servers


ENVIRONMENT = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "ignore",
}
REFERENCE = ["/usr/bin/python3"] if os.path.exists("/usr/bin/python3") else [sys.executable]


def write(text, path):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def compiles(text):
    try:
        compile(text, "program", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def differs(text, command, path, kind=None):
    """Both results where they differ (and the jit's ends as `kind` says), or None."""
    write(text, path)
    want = run(REFERENCE, path, limit)
    if not is_usable(want):
        return None
    got = run(command, path)
    if want == got or (kind is not None and got.kind() != kind):
        return None
    return want, got


def shrink(nodes, command, path, kind, tries=400):
    """Removes lines from the tree as long as the difference stays."""
    changed = True
    while changed and tries > 0:
        changed = False
        for body, start, size in list(gen.removals(nodes)):
            if start >= len(body) or tries <= 0:
                continue
            removed = body[start : start + size]
            del body[start : start + size]
            text = gen.text_of(nodes)
            tries -= 1
            if compiles(text) and differs(text, command, path, kind):
                changed = True
            else:
                body[start:start] = removed
    return nodes


def describe(want, got):
    lines = []
    if want.status != got.status:
        lines.append(f"status {got.status}, not {want.status}")
    for name in ("output", "errors"):
        wanted = getattr(want, name).decode("utf-8", "replace").splitlines()
        gotten = getattr(got, name).decode("utf-8", "replace").splitlines()
        for i in range(max(len(wanted), len(gotten))):
            a = wanted[i] if i < len(wanted) else "(nothing)"
            b = gotten[i] if i < len(gotten) else "(nothing)"
            if a != b:
                lines += [f"{name} line {i + 1}:", f"  want {a[:160]}", f"  got  {b[:160]}"]
                break
    return lines


def try_batch(seeds, arguments):
    """Runs some programs in one process every way; returns reports of what differed."""
    with tempfile.TemporaryDirectory(prefix="stablerun-fuzz.") as directory:
        paths = []
        for seed in seeds:
            paths.append(os.path.join(directory, f"program{seed}.py"))
            write(gen.text_of(gen.generate(seed)), paths[-1])
        want = servers().run(REFERENCE, paths, True)
        same = is_usable(want) and all(
            servers().run([arguments.program, *options.split()], paths) == want
            for options in arguments.options
        )
    if same:
        return []
    return [report for seed in seeds if (report := try_program(seed, arguments))]


def try_program(seed, arguments):
    """Runs one program every way; returns a report of what differed, or None."""
    with tempfile.TemporaryDirectory(prefix="stablerun-fuzz.") as directory:
        path = os.path.join(directory, "program.py")
        text = gen.text_of(gen.generate(seed))
        if not compiles(text):
            return f"program {seed} does not compile: the generator is wrong"
        write(text, path)
        want = servers().run(REFERENCE, [path], True)
        if not is_usable(want):
            return None
        for options in arguments.options:
            command = [arguments.program, *options.split()]
            got = servers().run(command, [path])
            if got == want or servers().run(REFERENCE, [path], True) != want:
                continue
            found = differs(text, command, path)
            if not found:
                keep(seed, text, arguments)
                lines = [f"program {seed} {options}: differs only beside others"]
                return "\n".join(lines + describe(want, got))
            nodes = gen.generate(seed)
            if not arguments.whole:
                shrink(nodes, command, path, found[1].kind())
            text = gen.text_of(nodes)
            want, got = differs(text, command, path) or found
            keep(seed, text, arguments)
            body = text[len(gen.PRELUDE) :] if not arguments.whole else ""
            head = f"program {seed} {options}"
            return "\n".join([head, *describe(want, got), body])
    return None


def keep(seed, text, arguments):
    if arguments.keep:
        os.makedirs(arguments.keep, exist_ok=True)
        write(text, os.path.join(arguments.keep, f"program-{seed}.py"))


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("-n", type=int, default=100, dest="count")
    parser.add_argument("--seed", type=int, default=1, help="number of the first program")
    parser.add_argument("--options", action="append", help="options of PROGRAM, one way to run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", metavar="DIRECTORY", help="keep what differed, shrunk")
    parser.add_argument("--whole", action="store_true", help="do not shrink")
    parser.add_argument("--most", type=int, default=10, help="stop after so many differences")
    arguments = parser.parse_args(argv)
    arguments.program = os.path.abspath(arguments.program)
    arguments.options = arguments.options or [""]
    return arguments


def main(argv):
    warnings.simplefilter("ignore")
    arguments = parse(argv)
    last = arguments.seed + arguments.count
    batches = [range(i, min(i + BATCH, last)) for i in range(arguments.seed, last, BATCH)]
    done = different = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for seeds, reports in zip(
            batches, pool.map(lambda seeds: try_batch(seeds, arguments), batches)
        ):
            done += len(seeds)
            different += len(reports)
            for report in reports:
                print(f"--- {report}", flush=True)
            if different >= arguments.most:
                pool.shutdown(cancel_futures=True)
                break
    for group in ALL_SERVERS:
        for server in group.servers.values():
            server.stop()
    print(f"{done} programs from number {arguments.seed}, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
