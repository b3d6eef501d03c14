"""Runs programs in children of one process, which saves Python's start for each.

Reads lines `PATH CPU MEMORY SECONDS` (limits of the child; 0: none) and runs PATH as a main program with
its output in PATH.out and PATH.err; answers each with a line: the child's status as
waitpid() has it.
"""

import os
import resource
import signal
import sys
import types


def become(path, cpu, memory, seconds):
    """In the child: files, limits and signals of a program of its own."""
    for number, name in ((1, path + ".out"), (2, path + ".err")):
        target = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(target, number)
        os.close(target)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.argv[:] = [path]
    if cpu:
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    signal.alarm(seconds)
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    with open(path, encoding="utf-8") as file:
        return compile(file.read(), path, "exec"), module.__dict__


while True:
    line = sys.stdin.readline()
    if not line:
        break
    path, *limits = line.split()
    pid = os.fork()
    if not pid:
        code, space = become(path, *map(int, limits))
        del line, path, limits, pid
        break
    status = os.waitpid(pid, 0)[1]
    print(status, flush=True)

if "code" in globals():
    # The end of this script is the end of the program: exceptions, __del__ and all.
    exec(code, space)
