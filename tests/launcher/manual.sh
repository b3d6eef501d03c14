#!/bin/bash
# The manual page renders without a warning and has every option and subcommand; so do the
# summary of --help and the completions' sources agree with it.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"
page=$SRC/launcher/stablerun.1

lint() {
	mandoc -T lint -W warning "$page" >lint
	cat lint
	[ ! -s lint ]
}
need mandoc mandoc
check "no warnings" lint
mandoc -T ascii "$page" | col -b >text

# has WORD...: each stands in the page, with its dashes.
has() {
	for word; do
		grep -qE -- "(^|[^a-z-])$word([^a-z-]|$)" text || {
			echo "the manual lacks '$word'"
			return 1
		}
	done
}
"$stablerun" --help >help
options=$(grep -oE -- '--[a-z]+' help | sort -u)
[ "$(echo "$options" | wc -l)" -ge 10 ] || fail "--help shows too few options"
check "every option of --help" has $options
# The options that the program takes are those that --help shows.
taken=$(sed -n '/long_options\[\]/,/^};/s/.*{"\([a-z-]*\)".*/--\1/p' "$SRC/launcher/options.c" |
	sort -u)
check "every option is in --help" test "$taken" = "$options"
subcommands=$(sed -n '/subcommands\[\]/,/^};/s/.*{"\([a-z]*\)".*/\1/p' "$SRC/launcher/main.c")
[ -n "$subcommands" ] || fail "no subcommands found"
described() {
	for word; do
		grep -qE "^\.It Cm $word( |$)" "$page" || { echo "the manual lacks the subcommand $word"; return 1; }
	done
}
check "every subcommand" described $subcommands
check "exit statuses" has 125 126 127
finish
