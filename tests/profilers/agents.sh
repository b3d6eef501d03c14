#!/bin/bash
# jit --agent: OProfile's and VTune's interfaces, told to a small library that stands in for
# each: the same code, names and lines as in the jitdump of the same run, each end, a fork; where
# there is no library, or it refuses, one warning and the program's own result.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

want() { "$@" || fail "$*"; }
mkdir lib
${CC:-gcc} -std=gnu11 -Wall -O1 -shared -fPIC -o lib/libopagent.so.1 "$SRC/tests/profilers/standin.c"
cp lib/libopagent.so.1 collector.so
cat >work.py <<'END'
import os
import sys

def inner(n):
    total = 0
    for i in range(n):
        total += i * 3
    return total

def make(k):
    # A function of its own each time, which goes when it is done.
    space = {}
    exec(f"def made(n):\n    s = 0\n    for i in range(n):\n        s += {k}\n    return s\n", space)
    return space["made"](2000)

print(inner(3000), sum(make(k) for k in range(4)))
if len(sys.argv) > 1:
    if os.fork() == 0:
        print(inner(10), flush=True)
        sys.exit(0)
    os.wait()
END
jit=$BUILD/jit
told() { # AGENT ARGUMENTS...: runs and checks what was told
	agent=$1
	shift
	rm -f log jit-*
	AGENT_LOG=$PWD/log LD_LIBRARY_PATH=$PWD/lib INTEL_JIT_PROFILER64=$PWD/collector.so \
		expect 0 "$jit" -p "--agent=$agent" --dump-dir="$PWD" work.py "$@"
	want [ ! -s err ]
	want [ "$(head -n 1 out)" = "13495500 12000" ]
}
clean() { for dump in jit-*.dump; do rm -f "/tmp/perf-$(echo "$dump" | tr -dc 0-9).map"; done; }
tells() {
	told "$1"
	/usr/bin/python3 "$SRC/tests/profilers/agents.py" "$1" log jit-*.dump || fail "$1"
	clean
}
forks() {
	told "$1" fork
	want [ "$(ls jit-*.dump | wc -l)" -eq 2 ]
	parent=$(head -n 1 log | cut -d ' ' -f 1)
	child=$(cut -d ' ' -f 1 log | grep -v "^$parent$" | head -n 1)
	want [ -n "$child" ]
	/usr/bin/python3 "$SRC/tests/profilers/agents.py" "$1" log "jit-$parent.dump" || fail "parent"
	# The child is told all code there was, once.
	if [ "$1" = oprofile ]; then
		want [ "$(grep -c "^$child open$" log)" -eq 1 ]
		want [ "$(grep -c "^$child close 1$" log)" -eq 1 ]
	fi
	want [ "$(grep "^$child " log | grep -c ' work.inner (work.py:4)$')" -eq 1 ]
	clean
}
missing() {
	expect 0 "$jit" --agent=oprofile work.py
	want [ "$(cat err)" = \
		"jit: cannot tell OProfile about compiled code: 'libopagent.so' cannot be loaded" ]
	want [ "$(head -n 1 out)" = "13495500 12000" ]
	env -u INTEL_JIT_PROFILER64 "$jit" --agent=vtune work.py >out 2>err || fail "vtune"
	want grep -q "its collector has not set INTEL_JIT_PROFILER64" err
	INTEL_JIT_PROFILER64=/nowhere.so expect 0 "$jit" --agent=vtune work.py
	want grep -q "^jit: cannot tell VTune about compiled code: /nowhere.so: " err
	expect 2 "$jit" --agent=other work.py
	want grep -q "'--agent=other': neither 'oprofile' nor 'vtune'" err
	expect 2 "$jit" --agent work.py
}
refuses() {
	export AGENT_LOG=$PWD/refused AGENT_REFUSE=1
	LD_LIBRARY_PATH=$PWD/lib expect 0 "$jit" --agent=oprofile work.py
	want grep -q "op_open_agent failed: No such file or directory" err
	want [ ! -e refused ]
	# A collector that is idle is no mistake.
	INTEL_JIT_PROFILER64=$PWD/collector.so expect 0 "$jit" --agent=vtune work.py
	want [ ! -s err ]
	want [ "$(cut -d ' ' -f 2- refused)" = initialize ]
	unset AGENT_REFUSE
	AGENT_VERSION=2 LD_LIBRARY_PATH=$PWD/lib expect 0 "$jit" --agent=oprofile work.py
	want grep -q "has version 2 of its interface, not 1" err
}
both() {
	rm -f log
	AGENT_LOG=$PWD/log LD_LIBRARY_PATH=$PWD/lib INTEL_JIT_PROFILER64=$PWD/collector.so \
		expect 0 "$jit" --agent=oprofile --agent=vtune work.py
	want [ ! -s err ]
	want [ "$(grep -c ' code ' log)" -eq "$(grep -c ' method ' log)" ]
	want [ "$(grep -c ' code ' log)" -gt 3 ]
}
check "oprofile" tells oprofile
check "vtune" tells vtune
check "oprofile: fork" forks oprofile
check "vtune: fork" forks vtune
check both both
check missing missing
check refuses refuses
finish
