# Sourced by the tests of annotate after tests/lib.sh.
here=$SRC/tests/annotate
annotate=$BUILD/annotate

# build NAME: compiles tests/annotate/NAME.c to ./NAME.
build() {
	${CC:-gcc} -O2 -g -std=gnu11 -D_GNU_SOURCE -pthread -o "$1" "$here/$1.c"
}

# record FILE OPTION... -- COMMAND...: perf record with what every machine can sample; the
# command's output goes to FILE.txt. RATE= leaves the rate to the options, WRAP=
# runs perf by another command.
record() {
	file=$1
	shift
	${WRAP-} perf record -q -o "$file" ${RATE--F 2000} -k mono "$@" >"$file.txt" 2>"$file.err" || {
		cat "$file.err" >&2
		fail "perf record $*"
	}
}

can_sample() {
	need perf linux-perf
	perf record -q -o can.data -e cpu-clock:u true >can.txt 2>&1 ||
		skip "perf cannot sample here: $(tail -n 1 can.txt)"
	rm -f can.data
}

# agrees FILE [OPTION...]: annotate's counts equal perf script's.
agrees() {
	file=$1
	shift
	"$annotate" --json "$file" >"$file.json" 2>"$file.warnings" || {
		cat "$file.warnings" >&2
		return 1
	}
	/usr/bin/python3 "$here/compare.py" "$file" "$file.json" "$@"
}
