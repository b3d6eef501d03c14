#!/bin/bash
# Runs from inside a container and from outside, side by side: the same addresses with
# --place=move; against the personality one constant shift, which diff tells as one fact and
# annotate looks through.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"
# The machine's settings stay while this runs.
exec 9<"$TMP/.." && flock -s 9
stablerun=$BUILD/stablerun
need perf linux-perf
"$stablerun" perf -f -o try.run -- /bin/true >perf.log 2>&1 ||
	skip "perf cannot record here: $(tail -n 1 perf.log)"
cat >program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) unsigned long spin(unsigned long x)
{
	for (int i = 0; i < 20000000; i++)
		x = x * 6364136223846793005UL + 1;
	return x;
}
static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
int main(void)
{
	static int numbers[1 << 16];
	unsigned long x = 1;
	for (int round = 0; round < 8; round++) {
		x = spin(x);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			numbers[i] = rand() & 0xffff;
		qsort(numbers, sizeof(numbers) / sizeof(numbers[0]), sizeof(int), compare);
	}
	printf("%lu %d\n", x, numbers[0]);
	return 0;
}
END
gcc -g -O1 -o program program.c
./refuse "$stablerun" perf -f -o inside.run -- ./program >inside.out 2>inside.err
"$stablerun" perf -f --place=move -o outside.run -- ./program >outside.out 2>outside.err
"$stablerun" perf -f --place=personality -o personality.run -- ./program >personality.out \
	2>personality.err

equal() {
	"$stablerun" diff inside.run outside.run && same inside.out outside.out
}
check "diff: inside and outside with --place=move" equal
shifted() {
	"$stablerun" diff personality.run inside.run >output/diff
	[ $? -eq 1 ] || { cat output/diff; return 1; }
	cat output/diff
	# One line of what moved, one of why.
	[ "$(sed -n '/^what moved/,/^because/p' output/diff | grep -c '^  ')" -eq 1 ] &&
		grep "^  mappings .*more: -0x10400000000 " output/diff &&
		grep "^  place: .*one constant shift of all mappings" output/diff &&
		[ "$(sed -n '/^because/,/^compared/p' output/diff | grep -c '^  ')" -eq 1 ]
}
check "diff: inside and with the personality" shifted
merged() {
	for runs in personality.run inside.run "personality.run inside.run"; do
		# shellcheck disable=SC2086 # a list of runs
		"$BUILD/annotate" --json $runs >"output/${runs// /+}.json" || return 1
	done
	/usr/bin/python3 - output <<'END'
import json, sys
def read(name):
    profile = json.load(open(f"{sys.argv[1]}/{name}.json"))
    found = {}
    for function in profile["functions"]:
        if function["kind"] == "native":
            key = function["name"], function["module"].rsplit("/", 1)[-1]
            assert key not in found, key
            found[key] = function["samples"]
    return profile["samples"], found
plain, moved, both = map(read, ("personality.run", "inside.run", "personality.run+inside.run"))
print(plain, moved, both)
assert both[0] == plain[0] + moved[0]
for key in both[1]:
    assert both[1][key] == plain[1].get(key, 0) + moved[1].get(key, 0), key
assert both[1].keys() == plain[1].keys() | moved[1].keys()
# The program's own functions, which do not move, and libc's, which do.
for name, module in (("spin", "program"), ("compare", "program")):
    assert plain[1][name, module] > 20 and moved[1][name, module] > 20, name
libc = [key for key in both[1] if key[1].startswith("libc.so") and
        plain[1].get(key, 0) > 5 and moved[1].get(key, 0) > 5]
assert libc
END
}
check "annotate merges them" merged
finish
