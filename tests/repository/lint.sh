#!/bin/bash
# What holds the repository's shape: who may include whom, where third-party types end, headers
# that stand alone, tests that are really run, and no leftovers.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"
cd "$SRC"

# none TEXT: what is read from stdin are offenders.
none() {
	cat >"$TMP/offenders"
	[ ! -s "$TMP/offenders" ] || { echo "$1:"; cat "$TMP/offenders"; return 1; }
}
includes() { grep -nE "#include \"($1)/" "${@:2}"; }

# Data flows one way. The launcher can be audited alone; the JIT uses its small base only;
# annotate may read what the other two write.
arrows() {
	includes 'jit|annotate|tests' launcher/*.[ch] | none "launcher includes others" || return 1
	includes 'annotate|tests' jit/*.[ch] | none "jit includes others" || return 1
	includes launcher jit/*.[ch] | grep -vE '"launcher/(base|check)\.h"' |
		none "jit includes more of the launcher than its base" || return 1
	includes tests annotate/*.[ch] 2>/dev/null | none "annotate includes tests"
}
check "arrows" arrows

# A library's types end in the file that uses it.
third_party() {
	grep -nE '#include <(capstone|libelf|gelf|libdw|libdwfl|elfutils|seccomp|jansson|zstd|lzma|zlib|ini|expat|protobuf-c|debuginfod)[/.a-z]*>' \
		launcher/*.h jit/*.h annotate/*.h 2>/dev/null |
		grep -v '^jit/stencil_cut.h:' | # the build tool's parts share what capstone decodes
		none "headers include libraries"
}
check "third-party headers" third_party

alone() {
	flags="$(pkg-config --cflags python-3.11-embed) -I$BUILD/obj" || return 1
	for header in launcher/*.h jit/*.h annotate/*.h; do
		[ -e "$header" ] || continue
		# A header of one include alone, after nothing.
		echo "#include \"$header\"" | gcc -std=gnu11 -D_GNU_SOURCE -DPy_BUILD_CORE -I. $flags \
			-fsyntax-only -x c - 2>"$TMP/alone" ||
			{ head -n 3 "$TMP/alone"; echo "$header"; }
	done | none "headers that do not stand alone"
}
check "headers stand alone" alone

guards() {
	for header in launcher/*.h jit/*.h annotate/*.h; do
		[ -e "$header" ] || continue
		name=$(echo "$header" | tr 'a-z/.' 'A-Z__')
		grep -q "^#ifndef $name\$" "$header" || echo "$header"
	done | none "headers without the guard of their name"
}
check "guards" guards

no_code_in_etc() { find etc -name '*.[ch]' | none "C in etc/"; }
check "etc" no_code_in_etc

# A test that nothing runs is none.
tests_run() {
	for file in launcher/*_test.c jit/*_test.c annotate/*_test.c; do
		[ -e "$file" ] || continue
		name=$(basename "$file" .c)
		grep -qE "(^|[^a-z_])$name([^a-z_]|$)" "${file%/*}"/*.mk || echo "$file"
	done | none "unit tests in no module.mk" || return 1
	find tests -mindepth 2 -maxdepth 2 -name '*.sh' ! -name 'lib*.sh' ! -perm -u+x |
		none "tests that are not executable"
}
check "tests are run" tests_run

tidy() {
	find Makefile README.md launcher jit annotate tests etc .ci -type f \
		\( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name '*.mk' -o -name Makefile \) \
		! -path '*/__pycache__/*' >"$TMP/files"
	xargs -d '\n' grep -nE '[ 	]+$' <"$TMP/files" | none "blanks at line ends" || return 1
	xargs -d '\n' grep -nE '^(<<<<<<<|>>>>>>>) |\b(XXX|FIXME|TODO)\b' <"$TMP/files" |
		grep -v '^tests/repository/' | none "leftovers"
}
check "tidy" tidy

if git rev-parse HEAD >/dev/null 2>&1; then
	no_binaries() {
		git ls-files -z | xargs -0 grep -lIZ '' | tr '\0' '\n' | sort >"$TMP/text"
		git ls-files | while read -r file; do
			[ ! -s "$file" ] || [ -L "$file" ] || echo "$file"
		done | sort | comm -13 "$TMP/text" - | grep -v '^tests/.*/corpus/' |
			none "binary files in the repository"
	}
	check "no binaries" no_binaries
	top_level() {
		git ls-files | sed 's|/.*|/|' | sort -u | grep -vxE \
			'Makefile|README\.md|LICENSE|\.(clang-format|gitignore)|(\.ci|launcher|jit|annotate|tests|etc)/' |
			none "files that do not belong at the top"
	}
	check "top level" top_level
else
	echo "SKIP: no binaries: not a git checkout"
fi
finish
