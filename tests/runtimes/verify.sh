#!/bin/bash
# Each runtime with its rule: the share of code objects that stand at the same address, and of
# bytes that are the same at exit, in RUNS runs in each context. `make check-runtimes` runs it
# over all; as part of `make check` (RUNS not set) it is two runtimes, quickly.
. "$SRC/tests/lib.sh"

if [ -n "${RUNS:-}" ]; then
	contexts=plain,env,perf,gdb only=
	figures=$BUILD/runtimes.txt
	: >"$figures"
else
	RUNS=1 contexts=plain,env only="luajit jit" figures=/dev/stdout
fi
export BUILD TMPDIR=$TMP
"$SRC/tests/runtimes/rows" bin >rows

# least NAME: the least percentage of addresses, and of bytes ("-": not promised).
least() {
	case $1 in
	java) echo 99 - ;;
	php | ruby | qemu-user | sbcl) echo 100 - ;;
	*) echo 100 100 ;;
	esac
}

# share LABEL: the percentage that the line with LABEL gives, or 0 (100 for lines of no code).
share() {
	sed -n "s/.*[: ]\([0-9]*\) of \([0-9]*\) code objects $1.*/\1 \2/p" said |
		awk '{ printf "%.1f\n", 100 * $1 / $2; found = 1 } END { if (!found) print 0 }'
}

below() { awk "BEGIN { exit !($1 < $2) }"; }

while IFS=$'\t' read -r name command; do
	case " ${only:-$name} " in
	*" $name "*) ;;
	*) continue ;;
	esac
	if [ -z "$command" ]; then
		echo "SKIP: $name: it is not installed (etc/packages-runtimes)"
		continue
	fi
	read -r addresses bytes < <(least "$name")
	# A program that sees another environment holds other things: what a runtime makes of
	# the same input is what is measured.
	# shellcheck disable=SC2086
	"$BUILD/stablerun" verify --env=clean -n "$RUNS" --contexts=$contexts -- $command \
		>said 2>&1 </dev/null || [ $? -eq 1 ] || { echo "FAIL: $name" && cat said && continue; }
	got=$(share "at the same address") same=$(share "are the same at exit")
	echo "$name: $got% of addresses, $same% of bytes" >>"$figures"
	if below "$got" "$addresses" || { [ "$bytes" != - ] && below "$same" "$bytes"; }; then
		echo "FAIL: $name"
		cat said
	else
		echo "PASS: $name"
	fi
done <rows
