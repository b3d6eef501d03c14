#!/bin/bash
# The Debian package: what lintian says of it, what it holds, what it depends on, and that its
# manuals render without a complaint.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

want() { "$@" || fail "$*"; }
package=$(ls "$BUILD"/deb/stablerun_*_amd64.deb 2>/dev/null) ||
	skip "the package is not built: make check-deb builds it"

lintian_clean() {
	LC_ALL=C.UTF-8 lintian --allow-root --fail-on error,warning "$BUILD"/deb/*.deb
}
contents() {
	dpkg-deb -c "$package" | awk '{ print $1, $2, $6 }' >list
	for file in bin/stablerun bin/stablerun-annotate bin/stablerun-jit \
		share/man/man1/stablerun{,-annotate,-jit}.1.gz \
		share/bash-completion/completions/stablerun{,-annotate,-jit} \
		share/zsh/vendor-completions/_stablerun share/stablerun/rules/node.rule \
		share/stablerun/gdb/load.py share/stablerun/gdb/stablerun/commands.py \
		share/stablerun/seccomp/stablerun.json share/doc/stablerun/copyright \
		share/doc/stablerun/changelog.gz share/doc/stablerun/README.md.gz \
		share/doc/stablerun/examples/nbody.py; do
		want grep -q " \./usr/$file$" list
	done
	# All rules; nobody's but root's; no generic name where names are shared.
	want [ "$(grep -c '\.rule$' list)" -eq "$(ls "$SRC"/etc/rules/*.rule | wc -l)" ]
	want [ "$(awk '{ print $2 }' list | sort -u)" = root/root ]
	want [ -z "$(awk '$1 ~ /^-/ { print $3 }' list | grep -v stablerun)" ]
	want [ -z "$(awk '{ print $3 }' list | grep -E '(bin|man1|completions)/' |
		grep -vE '/_?stablerun[^/]*$' | grep -v '/$')" ]
}
depends() {
	dpkg-deb -f "$package" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' | sort >depends
	# By their own words: each shared library that the programs need is some package's.
	for program in "$BUILD/jit" "$BUILD/annotate"; do
		readelf -dW "$program" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p'
	done | sort -u | grep -vE '^(libc|libm|libdl|ld-linux.*)\.so' >needed
	want [ -s needed ]
	while read -r library; do
		path=$(/sbin/ldconfig -p | sed -n "s/^\t$library .*x86-64.* => //p" | head -n 1)
		# Its path may be through /lib, which is a link.
		owner=$(dpkg -S "*/$(basename "$(realpath "$path")")" | head -n 1 | cut -d : -f 1)
		want grep -qx "$owner" depends
	done <needed
	want grep -qx libpython3.11-stdlib depends
	want grep -qx libc6 depends
}
manuals() {
	dpkg-deb -x "$package" root
	for page in stablerun stablerun-annotate stablerun-jit; do
		man --warnings -E UTF-8 -l root/usr/share/man/man1/$page.1.gz 2>warnings | col -b >$page.txt
		want [ ! -s warnings ]
		want grep -q "$page" $page.txt
		want [ "$(wc -l <$page.txt)" -gt 60 ]
		# The name that whatis shows.
		want [ "$(lexgrog root/usr/share/man/man1/$page.1.gz | cut -d : -f 2 | cut -d ' ' -f 2)" \
			= "\"$page" ]
	done
}
versions() {
	version=$(dpkg-deb -f "$package" Version)
	want [ "$(root/usr/bin/stablerun --version | grep -o '[0-9][0-9.]*' | head -n 1)" = "${version%-*}" ]
	want grep -q "^## ${version%-*}$" "$SRC/etc/CHANGELOG.md"
}
if command -v lintian >/dev/null; then
	check lintian lintian_clean
else
	echo "SKIP: lintian: not installed (package lintian)"
fi
check contents contents
check depends depends
if command -v lexgrog >/dev/null; then
	check manuals manuals
	check versions versions
else
	echo "SKIP: manuals: man is not installed (package man-db)"
fi
finish
