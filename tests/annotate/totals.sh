#!/bin/sh
# On every kind of recording that perf makes here, annotate's totals, events, commands and
# functions equal what perf script says.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
can_sample
build shapes
build minijit

# kind NAME MODE OPTION...: records `shapes MODE` with perf's OPTIONs and compares.
kind() {
	name=$1 mode=$2
	shift 2
	if record "$name.data" "$@" -- ./shapes "$mode" 60 && agrees "$name.data"; then
		echo "PASS: $name"
	else
		echo "FAIL: $name"
	fi
}

kind plain plain -e cpu-clock:u
kind kernel plain -e cpu-clock
RATE= kind period plain -e cpu-clock:u -c 500000
kind frame-pointers plain -e cpu-clock:u --call-graph fp
kind dwarf plain -e cpu-clock:u --call-graph dwarf,4096
kind compressed plain -e cpu-clock:u -z
kind compressed-dwarf plain -e cpu-clock:u -z --call-graph dwarf,8192
kind threads threads -e cpu-clock:u
kind fork fork -e cpu-clock:u
kind events faults -e cpu-clock:u -e task-clock:u -e page-faults
kind group plain -e '{cpu-clock:u,task-clock:u}:S'
RATE= kind faults faults -e page-faults -c 1
kind addresses plain -e cpu-clock:u -d -W --phys-data
kind registers plain -e cpu-clock:u --user-regs=ip,sp,bp
kind build-ids plain -e cpu-clock:u --buildid-mmap
kind no-build-ids plain -e cpu-clock:u -B
kind namespaces fork -e cpu-clock:u --namespaces
kind per-thread plain -e cpu-clock:u --per-thread
kind identifier plain -e cpu-clock:u --sample-identifier

# Everything at the same addresses, so that these tell functions apart across the exec.
if WRAP='setarch -R' record exec.data -e cpu-clock:u -- ./shapes exec && agrees exec.data; then
	echo "PASS: exec"
else
	echo "FAIL: exec"
fi

perf record -q -e cpu-clock:u -F 2000 -o - -- ./shapes threads >pipe.data 2>pipe.err
if agrees pipe.data; then echo "PASS: pipe"; else echo "FAIL: pipe"; fi

perf record -q -e cpu-clock:u -e page-faults -F 2000 -z -o - -- ./shapes threads \
	>pipe-z.data 2>pipe.err
if agrees pipe-z.data; then echo "PASS: compressed pipe"; else echo "FAIL: compressed pipe"; fi

"$annotate" --json - <pipe.data >stdin.json
sed 's/"path": "[^"]*"//' pipe.data.json >pipe.json
sed 's/"path": "[^"]*"//' stdin.json >stdin2.json
if cmp pipe.json stdin2.json; then echo "PASS: standard input"; else echo "FAIL: stdin"; fi

for mode in reuse move two; do
	if record "$mode.data" -e cpu-clock:u -- ./minijit "$mode" 60 &&
		agrees "$mode.data" --jit "$mode.data.txt"; then
		echo "PASS: jitdump $mode"
	else
		echo "FAIL: jitdump $mode"
	fi
done

/usr/bin/python3 "$here/flip.py" events.data flipped.data
if agrees flipped.data; then echo "PASS: other byte order"; else echo "FAIL: byte order"; fi
/usr/bin/python3 "$here/flip.py" frame-pointers.data flipped-chain.data
if agrees flipped-chain.data; then echo "PASS: chains flipped"; else echo "FAIL: flipped"; fi
