# Sourced by the tests of this folder after tests/lib.sh: a launcher and probes that nobody can
# reach too, and the filter of a container.
. "$SRC/tests/launcher/lib.sh"
cp "$stablerun" stablerun
stablerun=$TMP/stablerun
gcc -O1 -D_GNU_SOURCE -o refuse "$SRC/tests/launcher/refuse.c"
refuse=$TMP/refuse
mkdir -m 777 output

# AddressSanitizer (make check SAN=1) wants a free address space and /proc for itself, and
# looks for leaks by ptrace.
sanitized=false
if grep -q __asan_init "$stablerun"; then
	sanitized=true
	export ASAN_OPTIONS=detect_leaks=0
fi

# distinct FILE...: how many different contents the files have.
distinct() {
	sha256sum "$@" | cut -d' ' -f1 | sort -u | wc -l
}
