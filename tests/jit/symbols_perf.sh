#!/bin/sh
# What perf makes of the perf map and of the jitdump: names, lines, and stacks down to main.
. "$SRC/tests/lib.sh"
need perf linux-perf
driver=$BUILD/obj/jit/symbols_driver

perf record -q -k mono -F 2000 -e cpu-clock:u --call-graph dwarf,4096 -o perf.data \
	"$driver" 1 "$PWD" load run close >out 2>err || {
	cat err >&2
	skip "perf cannot sample here: $(head -n 1 err)"
}
pid=$(sed -n 's/^pid //p' out)
map=/tmp/perf-$pid.map
cat >map.want <<'END'
60000000 15 driver.inner (driver_source.py:5)
600000a0 19 driver.outer (driver_source.py:19) [optimised]
END
same map.want "$map"

# share FILE NAME: the percentage of all samples that perf report gives to a symbol.
share() {
	perf report --stdio --no-children -g none -i "$1" 2>/dev/null |
		awk -v name="$2" 'index($0, name) { sub("%", "", $1); print int($1) }'
}

got=$(share perf.data 'driver.inner (driver_source.py:5)')
rm -f "$map"
[ "${got:-0}" -ge 90 ] || fail "by the perf map driver.inner has ${got:-no} percent"

perf inject --jit -i perf.data -o jit.data >inject.out 2>&1 || {
	cat inject.out >&2
	fail "perf inject"
}
got=$(share jit.data 'driver.inner (driver_source.py:5)')
[ "${got:-0}" -ge 90 ] || fail "by the jitdump driver.inner has ${got:-no} percent"

# The images that perf makes of the records have the lines.
addr2line -fe "jitted-$pid-0.so" 0x89 >line
printf '%s\n' 'driver.inner (driver_source.py:5)' '/tmp/driver_source.py:7' >line.want
same line.want line

# Whole stacks: inner, the helper without frame pointer, outer, main.
perf script -i jit.data -F ip,sym 2>/dev/null | awk '
	BEGIN { RS = "" }
	/driver\.inner/ {
		all++
		if ($0 ~ /driver_helper.*driver\.outer.*main/)
			whole++
	}
	END { print all + 0, whole + 0 }' >stacks
read -r all whole <stacks
[ "$all" -ge 50 ] || fail "only $all samples in driver.inner"
[ $((whole * 100)) -ge $((all * 95)) ] || fail "only $whole of $all stacks reach main"
