#!/bin/sh
# The same for runtimes that tell gdb nothing about their code: a breakpoint on the hottest
# JIT instruction of a sampled run, asked for before the program has begun, stops there.
. "$SRC/tests/lib.sh"
need gdb gdb
need perf linux-perf
cat >hot.js <<'END'
function hot(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
let t = 0; for (let i = 0; i < 3000; i++) t += hot(1000);
console.log(t);
END
cat >hot.lua <<'END'
local function hot(n) local s = 0 for i = 1, n do s = (s * 31 + i) % 1000003 end return s end
local t = 0 for i = 1, 3000 do t = t + hot(1000) end
print(t)
END

# try NAME FUNCTION COMMAND...: FUNCTION is what the code's name contains.
try() {
	name=$1 function=$2
	shift 2
	command -v "$1" >/dev/null || { echo "SKIP: $name: $1 is not installed"; return; }
	"$BUILD/stablerun" perf -o "$name.run" -- "$@" >"$name.plain" 2>"$name.err" || true
	[ -e "$name.run/perf.data" ] ||
		{ echo "SKIP: $name: $(tail -n 1 "$name.err")"; return; }
	"$BUILD/annotate" --json --all "$name.run" >"$name.json"
	/usr/bin/python3 - "$name.json" "$function" >hottest <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
code = [(i["samples"], i["address"]) for f in report["functions"]
        if f["kind"] == "jit" and sys.argv[2] in f["name"] for i in f["instructions"]]
samples, address = max(code, default=(0, "0x0"))
print(address, samples)
END
	read -r address samples <hottest
	[ "$samples" -gt 0 ] || { echo "SKIP: $name: no sample fell into JIT code"; return; }
	timeout 300 "$BUILD/stablerun" gdb "$name.run" -batch \
		-ex "stablerun break *$address" -ex run -ex 'print/x $pc' -ex bt \
		-ex 'stablerun info' -ex delete -ex continue >"$name.gdb" 2>&1 || true
	for line in 'pending until its code exists' "= $address" \
		'addresses compared, all as in the run' ' in main ' "samples: $samples, " \
		"equals the run's bytes" "$(cat "$name.plain")" 'exited normally'; do
		# A name may be unknown and bytes around an address without one are no object.
		[ "$name" = luajit ] && [ "$line" = "equals the run's bytes" ] && continue
		[ "$name" = node ] && [ "$line" = ' in main ' ] && line=' in node::Start('
		grep -qF -- "$line" "$name.gdb" && continue
		cat "$name.gdb" >&2
		echo "FAIL: $name: gdb does not say '$line'"
		return
	done
	# A session leaves what its runtime writes; the run's own was collected.
	pid=$(sed -n 's/.*(process \([0-9]*\)) exited.*/\1/p' "$name.gdb")
	rm -f "/tmp/perf-$pid.map"
	echo "PASS: $name"
}

try luajit '' luajit hot.lua
try node hot node hot.js
