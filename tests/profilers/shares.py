"""shares.py JSON SEVEN THREE: of the samples in two functions of annotate's --json, seven tenths
must be in the first, within five points and what chance does to so many samples."""

import json
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"))


def samples(name):
    return sum(
        function["samples"]
        for function in report["functions"]
        if function["kind"] == "jit" and function["name"].split(" ")[0] == name
    )


seven, three = samples(sys.argv[2]), samples(sys.argv[3])
total = seven + three
assert total >= 50, f"only {total} samples in both functions"
share = seven / total
noise = 4 * (0.7 * 0.3 / total) ** 0.5
print(f"{share:.1%} of {total} samples in {sys.argv[2]}")
assert abs(share - 0.7) <= 0.05 + noise, f"{share:.1%}, not 70%"
assert total >= 0.6 * report["samples"], (total, report["samples"])
