# Sourced by the supervision tests, after which the current directory is open to everybody.
. "$SRC/tests/lib.sh"

# build NAME [FLAG...]: compiles NAME.c of this folder to ./NAME.
build() {
	built=$1
	shift
	gcc -O1 -g -D_GNU_SOURCE "$@" -o "$built" "$SRC/tests/supervise/$built.c" ||
		fail "'$built' does not compile"
}

# Programs that nobody is to run must be where nobody can read.
cp "$BUILD/stablerun" "$TMP/stablerun"
PROGRAMS=$BUILD
BUILD=$TMP
chmod 777 "$TMP"

# Where something else listens to system calls already (a container's), there is no way.
"$BUILD/stablerun" --seed -- true 2>"$TMP/supervised" || fail "$(cat "$TMP/supervised")"
! grep -q 'going on unsupervised' "$TMP/supervised" || skip "$(cat "$TMP/supervised")"
rm "$TMP/supervised"
