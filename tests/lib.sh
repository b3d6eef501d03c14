# Sourced by the tests: . "$SRC/tests/lib.sh"
set -eu

fail() {
	echo "failed: $*" >&2
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# need COMMAND PACKAGE: skips, with the reason, where COMMAND is not installed.
need() {
	command -v "$1" >/dev/null || skip "$1 is not installed (package $2)"
}

# expect STATUS COMMAND ARG...: runs it and fails unless it exits with STATUS; its stdout and
# stderr are in the files out and err.
expect() {
	want=$1
	shift
	got=0
	"$@" >out 2>err || got=$?
	[ "$got" -eq "$want" ] || {
		cat out err >&2
		fail "'$*' exited with $got, not $want"
	}
}

# same FILE FILE: fails with the difference unless both are equal.
same() {
	diff -u "$1" "$2" >&2 || fail "'$1' and '$2' differ"
}

# is_sanitized PROGRAM: whether AddressSanitizer is in it (SAN=1).
is_sanitized() {
	grep -q __asan_init "$1"
}

# as_nobody COMMAND ARG...: runs it without privileges (needs root to become nobody).
as_nobody() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all "$@"
	else
		"$@"
	fi
}
