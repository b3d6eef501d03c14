# Sourced by the launcher's tests after tests/lib.sh: cases, and programs to launch.
stablerun=$BUILD/stablerun
failures=0

# check CASE COMMAND...: a PASS or FAIL line for the case; the command's output is shown
# where it fails.
check() {
	case_name=$1
	shift
	if ("$@") >"$TMP/check.log" 2>&1; then
		echo "PASS: $case_name"
	else
		echo "FAIL: $case_name"
		sed 's/^/    /' "$TMP/check.log"
		failures=$((failures + 1))
	fi
}

finish() {
	[ $failures -eq 0 ]
	exit
}

# is_static FILE: linked statically, as the launcher is unless built with sanitizers.
is_static() { ! readelf -lW "$1" | grep -q INTERP; }

# build_probe KIND FILE: builds probe.c as pie, nopie, static, staticpie or musl…; fails where
# the compiler lacks that kind.
build_probe() {
	case $1 in
	pie) set -- "$2" gcc -fPIE -pie ;;
	nopie) set -- "$2" gcc -fno-pie -no-pie ;;
	static) set -- "$2" gcc -static -no-pie ;;
	staticpie) set -- "$2" gcc -static-pie -fPIE ;;
	musl) set -- "$2" musl-gcc -fPIE -pie ;;
	muslstatic) set -- "$2" musl-gcc -static -no-pie ;;
	esac
	out=$1
	shift
	command -v "$1" >/dev/null || return 1
	"$@" -O1 -D_GNU_SOURCE -pthread -o "$out" "$SRC/tests/launcher/probe.c"
}
