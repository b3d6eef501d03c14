"""Checks annotate's counts against perf script's.

usage: compare.py PERF.DATA ANNOTATE.JSON [--jit EVENTS.TXT]

Every function's samples must equal the number of samples whose address perf puts into the
function's range; totals, events and commands must agree too. With --jit, the file has lines
`load|move NAME ADDRESS SIZE TIME` of tests/annotate/minijit.c: then the samples of each JIT
function must equal those in its ranges during its times.
"""
import collections
import json
import subprocess
import sys


def script(data, fields):
    command = ["perf", "script", "-i", data, "--ns", "-G", "-f", "-F", fields]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        sys.exit("perf script: " + done.stderr)
    return [line for line in done.stdout.splitlines() if line.strip()]


def samples_of(data, timed):
    for line in script(data, "time,event,ip" if timed else "event,ip"):
        words = line.split()
        time = 0
        if timed:
            seconds, _, fraction = words.pop(0).rstrip(":").partition(".")
            time = int(seconds) * 10**9 + int(fraction.ljust(9, "0"))
        yield time, words[0].rstrip(":"), int(words[-1], 16)


def check(what, ours, theirs):
    if ours != theirs:
        sys.exit(f"{what}: annotate says {ours}, perf script {theirs}")


def main():
    data, report = sys.argv[1], json.load(open(sys.argv[2]))
    samples = list(samples_of(data, "--jit" in sys.argv))
    check("samples", report["samples"], len(samples))
    check("events", report["events"],
          dict(collections.Counter(event for _, event, _ in samples)))
    comms = collections.Counter(line.strip() for line in script(data, "comm"))
    check("commands", report["comms"], dict(comms))

    total = sum(f["samples"] for f in report["functions"])
    check("sum", total + sum(report["unresolved"].values()), len(samples))
    addresses = collections.Counter(ip for _, _, ip in samples)
    checked = 0
    for function in report["functions"]:
        if function["kind"] == "jit":
            continue
        start = int(function["address"], 16)
        inside = sum(count for ip, count in addresses.items()
                     if start <= ip < start + function["size"])
        check(function["name"], function["samples"], inside)
        checked += 1

    if "--jit" in sys.argv:
        places = []
        for line in open(sys.argv[sys.argv.index("--jit") + 1]):
            what, name, address, size, time = line.split()
            address, time = int(address, 16), int(time)
            for place in places:
                overlaps = place[1] < address + int(size) and address < place[1] + place[2]
                if place[4] is None and (overlaps or (what == "move" and place[0] == name)):
                    place[4] = time
            places.append([name, address, int(size), time, None])
        expected = collections.Counter()
        for time, _, ip in samples:
            for name, start, size, begin, end in places:
                if start <= ip < start + size and begin <= time and (end is None or time < end):
                    expected[name] += 1
        found = {f["name"]: f["samples"] for f in report["functions"] if f["kind"] == "jit"}
        check("JIT functions", found, dict(expected))
        checked += len(found)
        print(found)
    print(f"{len(samples)} samples, {checked} functions agree, "
          f"{sum(report['unresolved'].values())} unresolved")


main()
