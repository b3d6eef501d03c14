#!/bin/bash
# make install puts everything where it is found, works from there, and make uninstall leaves
# nothing; no file name is anybody else's.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

# With what is built already: the test is about files, not about building.
sanitized=
is_static "$stablerun" || sanitized=SAN=1
make_here() {
	env -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$SRC" O="$BUILD" $sanitized \
		"$@" >make.log 2>&1 || { cat make.log; return 1; }
}
root="$TMP/a root"
mkdir -p "$root/usr/bin"
: >"$root/usr/bin/theirs"
check "install" make_here install PREFIX=/usr DESTDIR="$root"
bin=$root/usr/bin

names() {
	[ -x "$bin/stablerun" ] && [ -f "$root/usr/share/man/man1/stablerun.1" ] &&
		[ -f "$root/usr/share/man/man1/stablerun-jit.1" ] &&
		[ -f "$root/usr/share/bash-completion/completions/stablerun" ] &&
		[ -f "$root/usr/share/zsh/site-functions/_stablerun" ] || return 1
	# Everything is called after us.
	! (cd "$root" && find . -type f ! -path '*stablerun*' ! -name theirs) | grep . || return 1
	# What is built is installed.
	for name in annotate jit; do
		[ ! -x "$BUILD/$name" ] || [ -x "$bin/stablerun-$name" ] || return 1
	done
}
check "names" names
modes() {
	! find "$root/usr/share" -type f ! -perm 644 | grep . &&
		! find "$bin" -name 'stablerun*' ! -perm 755 | grep .
}
check "modes" modes
[ $sanitized ] || check "statically linked" is_static "$bin/stablerun"
check "runs" "$bin/stablerun" -- true

# Siblings are found beside the installed program, and never by a generic name.
siblings() {
	printf '#!/bin/sh\necho "theirs $*"\n' >"$bin/annotate"
	chmod 755 "$bin/annotate"
	mv "$bin/stablerun-annotate" aside 2>/dev/null
	"$bin/stablerun" annotate x 2>err
	[ $? -eq 127 ] && grep "cannot find '.*/stablerun-annotate'" err || return 1
	printf '#!/bin/sh\necho "ours $*"\n' >"$bin/stablerun-annotate"
	chmod 755 "$bin/stablerun-annotate"
	[ "$("$bin/stablerun" annotate a 'b c')" = "ours a b c" ] || return 1
	ln -s "$bin/stablerun" link
	[ "$(./link annotate a 'b c')" = "ours a b c" ] || return 1
	rm "$bin/annotate" "$bin/stablerun-annotate"
}
check "siblings" siblings

again() { make_here install PREFIX=/usr DESTDIR="$root"; }
check "install again" again
nothing_left() {
	make_here uninstall PREFIX=/usr DESTDIR="$root" || return 1
	[ "$(find "$root" -type f)" = "$bin/theirs" ] || { find "$root" -type f; return 1; }
	! find "$root" -type d -name stablerun | grep .
}
check "uninstall" nothing_left
finish
