#!/bin/bash
# The project speaks of itself and of nobody's workplace: words that have no place in tracked
# files, and in the last commits' subjects. The words are written in pieces here, so that this
# file does not have them.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"
cd "$SRC"
git rev-parse HEAD >/dev/null 2>&1 || skip "not a git checkout"

# pattern|what it is. Extended, without case; word borders where a part of a word is innocent.
cat >"$TMP/patterns" <<END
\\bassis${-:+}tants?\\b|somebody's role
\\bhelper (session|process of the lead)|somebody's role
\\b(last|next|previous|former|earlier|our) ses${-:+}sion\\b|a working day
\\bses${-:+}sion (ends?|[0-9])|a working day
\\b(issue|ticket) #?[0-9]+\\b|the number of a task
\\b(claude|gpt|chatgpt|copilot|anthropic|openai|llm|language model)\\b|a tool that writes
\\bas an ai\\b|a tool that writes
(^|[^a-z0-9_./-])/w(ork)?/[a-z]|a path of one machine
(^|[^a-z0-9_./-])/w(ork)?([^a-z0-9_/]|\$)|a path of one machine
\\bBRIEF\\.md|\\bNOTES\\.md|\\bDESIGN\\.md|\\bSTYLE\\.md|a file that is not here
\\bfacts/[a-z]|a file that is not here
/tmp/(issues|heavy)|a path of one machine
END
sed -i "s/\${-:+}//g" "$TMP/patterns"

clean() {
	found=0
	while IFS= read -r line; do
		pattern=${line%|*} what=${line##*|}
		git grep -nIiE -e "$pattern" -- . ':!tests/repository/words.sh' >"$TMP/hits" || continue
		echo "$what ($pattern):"
		head -n 10 "$TMP/hits"
		found=1
	done <"$TMP/patterns"
	[ $found -eq 0 ]
}
# That it finds what it looks for, and leaves honest words alone.
finds() {
	while IFS= read -r line; do
		grep -qiE -e "${line%|*}" <<<"$1" && return 0
	done <"$TMP/patterns"
	return 1
}
selftest() {
	for text in "as of iss""ue 8" "see /""w/release/x" "in /wo""rk/main" "an Assis""tant wrote" \
		"in our ses""sion we" "ses""sion 2 began" "read DESIGN.md"; do
		finds "$text" || { echo "does not find: $text"; return 1; }
	done
	for text in "a gdb session" "a session of its own" "struct session" "keep this session" "task 2" "a/w/b" "network/work" \
		"-W warning" "the issue is that" "x86 assistance" "helper()" "cd work/dir"; do
		! finds "$text" || { echo "finds in: $text"; return 1; }
	done
}
check selftest selftest
check words clean
finish
