"""Runs the commands of a Markdown file's ```console blocks and compares what they print.

    transcript.py FILE

Lines `$ COMMAND` are run by a shell in the current directory, one after the other; `> …` goes
on with the line before. Lines below are what it prints: numbers, addresses, times and the
width of blanks may differ, a line … stands for any lines, and … within one for any text.
After a debugger's command, lines `(gdb) COMMAND` are what is typed into it. Prints `PASS:` or
`FAIL:` for each command; exit status 1 when one failed.
"""

import re
import subprocess
import sys

NUMBER = re.compile(r"[-+]?0x[0-9a-f]+|\b[0-9a-f]{8,16}\b|[-+]?\d[\d,.:]*")
BLANKS = re.compile(r"[ \t]+")
PROMPT = "(gdb) "


class Step:
    """One command with what it reads from its stdin and the lines it should print."""

    def __init__(self, command, line):
        self.command = command
        self.line = line
        self.typed = []
        self.expected = []


def steps_of(path):
    steps = []
    inside = False
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("```"):
                inside = not inside and line == "```console"
            elif not inside:
                continue
            elif line.startswith("$ "):
                steps.append(Step(line[2:], number))
            elif line.startswith("> "):
                steps[-1].command += "\n" + line[2:]
            elif line.startswith(PROMPT):
                steps[-1].typed.append(line[len(PROMPT) :])
            else:
                steps[-1].expected.append(line)
    return steps


def normalize(line):
    line = line.replace(PROMPT, "")
    return BLANKS.sub(" ", NUMBER.sub("N", line)).strip()


def matcher(line):
    """A pattern for one expected line: … within it stands for any text."""
    parts = [re.escape(normalize(part)) for part in line.split("…")]
    return re.compile(r"\s*.*?\s*".join(parts) if len(parts) > 1 else parts[0])


def find_difference(expected, got):
    """The first expected line that is not there in its place, or None."""
    got = [line for line in map(normalize, got) if line]
    position = 0
    skipping = False
    for line in expected:
        if line.strip() == "…":
            skipping = True
            continue
        if not line.strip():
            continue
        pattern = matcher(line)
        last = len(got) if skipping else min(position + 1, len(got))
        for i in range(position, last):
            if pattern.fullmatch(got[i]):
                position = i + 1
                break
        else:
            return line, got[position] if position < len(got) else "(nothing)"
        skipping = False
    if not skipping and position < len(got):
        return "(nothing more)", got[position]
    return None


def run(step):
    done = subprocess.run(
        ["/bin/sh", "-c", step.command],
        input="".join(line + "\n" for line in step.typed),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=600,
    )
    return done.stdout.splitlines()


def main(path):
    failed = False
    for step in steps_of(path):
        got = run(step)
        difference = find_difference(step.expected, got)
        name = f"line {step.line}: {step.command.splitlines()[0]}"
        if difference is None:
            print(f"PASS: {name}")
            continue
        failed = True
        print(f"FAIL: {name}")
        print(f"    expected {difference[0]}")
        print(f"    got      {difference[1]}")
        for line in got[:40]:
            print(f"    | {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
