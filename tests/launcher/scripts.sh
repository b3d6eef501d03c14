#!/bin/bash
# `#!` lines give a program the arguments that the kernel would give it: random lines are
# executed both ways and compared.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

cat >show.c <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("<%s>\n", argv[i]);
	return 0;
}
END
gcc -o show show.c

cat >compare.py <<'END'
import os, random, subprocess, sys

stablerun, count = sys.argv[1], int(sys.argv[2])
here = os.getcwd()
random.seed(11)

def run(command):
    try:
        done = subprocess.run(command, capture_output=True, timeout=60)
    except OSError:
        return None
    if command[0] == stablerun and done.returncode in (126, 127):
        return None
    return done.stdout

def write(name, data):
    with open(name, "wb") as script:
        script.write(data)
    os.chmod(name, 0o755)

def compare(label, path, *arguments):
    mine = run([stablerun, "--", path, *arguments])
    kernel = run([path, *arguments])
    if mine != kernel:
        print(f"{label}\nkernel: {kernel}\nours:   {mine}")
        sys.exit(1)
    return kernel

show = os.path.join(here, "show").encode()
pieces = [b" ", b"\t", b"  ", b"-x", b"a b", b"\r", b"\0", b"\n", b"#", b"--long=1", b"\xff",
          b"'q'", b"x" * 120, b" " * 100, b"./show", show, b"/none"]
accepted = 0
for i in range(count):
    name = random.choice([show] * 6 + [b"show", b"./show", b"", b"/none"])
    line = b"#!" + random.choice([b"", b" ", b"\t "]) + name
    line += b"".join(random.choice(pieces) for _ in range(random.randrange(6)))
    if random.random() < 0.8:
        line += b"\n"
    write("script", line)
    accepted += compare(line, "./script", "one", "") is not None
# Lines around the kernel's 256 bytes.
for length in range(250, 262):
    for fill in (b"a", b" "):
        for end in (b"", b"\n", b" \n"):
            tail = fill * (length - 3 - len(show)) + end
            write("script", b"#!" + show + b" " + tail)
            accepted += compare((length, fill, end), "./script") is not None
            write("script", b"#!" + (b"/" * (length - 2 - len(show))) + show + end)
            accepted += compare((length, "name", end), "./script") is not None
# How a script is named: relative, absolute, along PATH, by a symbolic link.
write("script", b"#!" + show + b" -e\n")
os.symlink("script", "link")
os.environ["PATH"] = here + ":" + os.environ["PATH"]
for path in "./script", here + "/script", "./link", "././script":
    compare(path, path)
# Scripts that interpret scripts: as deep as the kernel goes, and one deeper.
previous, depth = show, 0
while True:
    depth += 1
    write(f"deep{depth}", b"#!" + previous + b" -%d\n" % depth)
    previous = os.path.join(here, f"deep{depth}").encode()
    if compare(f"depth {depth}", f"./deep{depth}") is None:
        break
print(f"{accepted} lines accepted, {depth - 1} deep")
sys.exit(accepted < count // 4 or not 3 <= depth - 1 <= 10)
END
check "random lines" /usr/bin/python3 compare.py "$stablerun" 400

# What env would have executed.
cp show named
compare_env() {
	printf '#!/usr/bin/env %s\n' "$1" >by-env
	chmod 755 by-env
	PATH=$TMP:$PATH ./by-env x >kernel || return 1
	PATH=$TMP:$PATH "$stablerun" -- ./by-env x >ours || return 1
	diff kernel ours || return 1
	# Only where nothing else is asked of it is env passed over.
	PATH=$TMP:$PATH "$stablerun" --plan=json -- ./by-env x | grep -q "\"exec\": \"$2\""
}
check "env NAME" compare_env named "$TMP/named"
check "env -S NAME ARG" compare_env '-S named -x  --y' "$TMP/named"
check "env -S with quotes" compare_env "-S named 'a b'" /usr/bin/env
check "env -i" compare_env '-S -i PATH=/usr/bin:/bin echo' /usr/bin/env
check "env VARIABLE" compare_env '-S A=b named' /usr/bin/env
finish
