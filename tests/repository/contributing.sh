#!/bin/bash
# What the guides name is there: files, functions, tables, make targets; and make help has all
# targets that are meant for people.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"
cd "$SRC"
# words FILE: what stands between backquotes.
words() { grep -o '`[^`]*`' "$1" | tr -d '`'; }

paths() {
	for file in README.md etc/CONTRIBUTING.md etc/CONTAINERS.md etc/CHANGELOG.md; do
		words $file | grep -E '^(launcher|jit|annotate|tests|etc)/[^ ]*$' | grep -v NAME |
			while read -r path; do
				compgen -G "$path" >/dev/null || echo "$file names '$path', which is not there"
			done
		# Links to files.
		grep -oE '\]\([^):#]*\)' $file | tr -d '()]' | while read -r path; do
			[ -e "$(dirname $file)/$path" ] || echo "$file links to '$path', which is not there"
		done
	done >"$TMP/missing"
	cat "$TMP/missing"
	[ ! -s "$TMP/missing" ]
}
functions() {
	words etc/CONTRIBUTING.md | grep -E '^[a-z_]+\(\)$' | grep -v 'NAME\|module_verb' |
		while read -r name; do
			grep -rqE "(^|[^a-z_])${name%()}\(" launcher jit annotate tests --include='*.[ch]' --include='*.sh' ||
				echo "no function '$name'"
		done >"$TMP/missing"
	cat "$TMP/missing"
	[ ! -s "$TMP/missing" ] && grep -q "lowerings\[" jit/lower_ops.c
}
targets() {
	make -s help >"$TMP/help"
	make -pq >"$TMP/database" 2>/dev/null || true
	{
		words README.md
		words etc/CONTRIBUTING.md
	} | sed -n 's/^make \(.*\)/\1/p' | tr ' ' '\n' | grep -E '^[a-z][a-z-]*$' | grep -v '^help$' | sort -u |
		while read -r target; do
			grep -q "^$target:" "$TMP/database" || echo "no target '$target'"
			grep -qE "(^|[ ,])make ([a-z ,-]* )?$target( |,|$)" "$TMP/help" || echo "make help lacks '$target'"
		done >"$TMP/missing"
	# Every target that a comment in the makefiles introduces.
	grep -hoE '^# make [a-z][a-z_-]*[a-zNAME]*' Makefile tests/*.mk tests/*/*.mk etc/*.mk | sed 's/^# make //' |
		sort -u | while read -r target; do
		grep -qE "(^|[ ,])make (.*[ ,])?$target([ ,]|$)" "$TMP/help" || echo "make help lacks '$target'"
	done >>"$TMP/missing"
	cat "$TMP/missing"
	[ ! -s "$TMP/missing" ]
}
# The four additions that the guide is about.
chapters() {
	for chapter in "A rule" "An instruction" "A reader" "An output"; do
		grep -q "^## $chapter" etc/CONTRIBUTING.md || { echo "no chapter '$chapter'"; return 1; }
	done
	grep -q 'etc/CONTRIBUTING.md' README.md && grep -q 'etc/CHANGELOG.md' README.md
}
check paths paths
check functions functions
check targets targets
check chapters chapters
finish
