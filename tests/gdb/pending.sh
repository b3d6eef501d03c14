#!/bin/sh
# A breakpoint asked for before its code exists stops at the code's first turn, however the
# memory became code, and gdb then knows the names, the bytes and the way down to main.
. "$SRC/tests/lib.sh"
need gdb gdb
gcc -O1 -g -fno-omit-frame-pointer -o minijit "$SRC/tests/gdb/minijit.c"

for mode in wx rwx dual; do
	PROFILE=1 "$BUILD/stablerun" -o "$mode.run" -- ./minijit "$mode" 1234
	address=$(readelf -sW "$mode.run/code.elf" | awk '$8 == "sum_loop" { print $2 }')
	[ -n "$address" ] || fail "$mode: no sum_loop in code.elf"
	timeout 100 "$BUILD/stablerun" gdb "$mode.run" -batch \
		-ex 'stablerun break sum_loop+0x9' -ex run \
		-ex 'print "turn", $rdi' -ex 'print/x $pc' -ex 'x/2i $pc' -ex bt \
		-ex 'stablerun info' -ex 'stablerun diff' -ex continue -ex 'print "next", $rdi' \
		-ex delete -ex continue >"$mode.out" 2>&1 || true
	# The session's own perf map, as the run's was collected.
	rm -f "/tmp/perf-$(sed -n 's/.*(process \([0-9]*\)) exited.*/\1/p' "$mode.out").map"
	at=$(printf '0x%x' $((0x$address + 9)))
	for line in \
		"pending until its code exists" \
		'= 1234' \
		"= $at" \
		"=> $at <sum_loop+9>:	dec    %rdi" \
		'jne    0x' \
		"in sum_loop ()" \
		' in call_code ' \
		' in main ' \
		"$at: sum_loop+0x9" \
		"memory: equals the run's bytes (16)" \
		"1 code objects equal, 0 not there yet" \
		'= 1233' \
		'addresses compared, all as in the run' \
		'exited normally'; do
		grep -qF -- "$line" "$mode.out" ||
			{ cat "$mode.out" >&2; fail "$mode: gdb did not say '$line'"; }
	done
	# The internal stops are nobody's business.
	! grep -q 'Catchpoint\|SIGSEGV' "$mode.out" ||
		{ cat "$mode.out" >&2; fail "$mode: internal stops show"; }
	echo "PASS: $mode"
done
