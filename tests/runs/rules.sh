#!/bin/bash
# Rules: found in both places, the user's first; recognising by evidence, never by a name alone;
# everything a rule adds is in the plan with its source; what is wrong has its file and line.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

want() { "$@" || fail "$*"; }
export XDG_CONFIG_HOME=$PWD/config
rules=$XDG_CONFIG_HOME/stablerun/rules
mkdir -p "$rules"
plan() { "$stablerun" --plan "$@" 2>err; }
# A program with a section and a note of its own, and a script that mentions it.
cat >runtime.c <<'END'
__attribute__((section(".own_section"), used)) static int data = 1;
__asm__(".section .note.own,\"a\",@note\n.long 4,4,1\n.asciz \"Own\"\n.long 7\n.previous");
int own_symbol(void) { return data; }
int main(void) { return 0; }
END
cc -rdynamic runtime.c -o runtime
printf '#!/bin/sh\n# starts own_runtime\nexit 0\n' >launcher && chmod +x launcher
# rule NAME LINE...: a rule of the user's.
rule() {
	name=$1
	shift
	printf '%s\n' "$@" >"$rules/$name.rule"
}

evidence() {
	for test in needs:libc.so.* section:.own_* note:Own exports:own_symbol 'file:runtime note:Own'; do
		rule own '[match]' "when = $test" '[pin]' 'arg = --found'
		plan -- ./runtime >planned
		want grep -q "^argument  *--found  *rule own" planned
	done
	for test in needs:libm.so.* section:.other note:Other exports:other 'file:other note:Own' \
		'file:runtime note:Other' script:own_runtime; do
		rule own '[match]' "when = $test" '[pin]' 'arg = --found'
		plan -- ./runtime >planned
		want [ "$(grep -c -- --found planned)" -eq 0 ]
	done
	rule own '[match]' 'when = script:own_runtime' '[pin]' 'arg = --found'
	want [ "$(plan -- ./launcher x | sed -n 's/^arguments *//p')" = "/bin/sh ./launcher --found x" ]
	# Whatever it is called.
	cp runtime renamed
	rule own '[match]' 'when = file:nothing note:Own' 'when = exports:own_symbol section:.own_section' \
		'[pin]' 'arg = --found'
	want [ "$(plan -- ./renamed | grep -c 'rule own')" -eq 1 ]
}
check "evidence" evidence

parts() {
	rule own '[match]' 'when = note:Own' '[pin]' 'arg = -a' 'env = PINNED=1' 'env = WORDS+=two' \
		'env = PATHS:=two' '[frames]' 'arg = -b' '[dump]' 'arg = -c' 'env = DUMP=1' '[needs]' \
		'seed = 7' 'clock = startup:150' 'cpu = one'
	PINNED=mine WORDS=one PATHS=one plan -- ./runtime x >planned
	want grep -q '^arguments .*./runtime -a -b x$' planned
	want grep -q '^  PINNED=mine$' planned
	want grep -q "^  'WORDS=one two'$" planned
	want grep -q '^  PATHS=one:two$' planned
	want [ "$(grep -c DUMP planned)" -eq 0 ]
	want grep -q '^randomness  *seed 7: NOT RANDOM.*rule own' planned
	want grep -q '^clock  *.*150 ms.*rule own' planned
	want grep -q '^cpu  *[0-9]*  *rule own' planned
	plan -o kept -- ./runtime x >planned
	want grep -q '^arguments .*./runtime -a -b -c x$' planned
	want grep -q '^variable  *DUMP=1  *rule own, because the run is kept' planned
	want [ ! -e kept ]
	"$stablerun" perf --plan -- ./runtime x >planned
	want grep -q '^arguments .*./runtime -a -b -c x$' planned
	rule own '[match]' 'when = note:Own' '[pin]' 'env = SPLIT=a' 'env = SPLIT+=b'
	plan -- ./runtime >planned
	want grep -q "^  'SPLIT=a b'$" planned
	SPLIT=mine plan -- ./runtime >planned
	want grep -q '^  SPLIT=mine$' planned
	rule own '[match]' 'when = note:Own' '[needs]' 'seed = 7' 'clock = startup:150'
	# What the user says himself stands.
	plan --clock=real --seed=9 -- ./runtime --x >planned
	want grep -q '^randomness  *seed 9: .*option --seed' planned
	want [ "$(grep -c '^clock' planned)" -eq 0 ]
}
check "what a rule adds is in the plan" parts

chosen() {
	rule own '[match]' 'when = note:Own' '[pin]' 'arg = --own'
	rule a-first '[match]' 'when = note:Own' '[pin]' 'arg = --first'
	want [ "$(plan -- ./runtime | grep -c -- --first)" -ge 1 ]
	want [ "$(plan --rule=own -- ./runtime | sed -n 's/^arguments.*runtime *//p')" = --own ]
	want [ "$(plan --rule=own -- /bin/true | sed -n 's/^arguments.*true *//p')" = --own ]
	want [ "$(plan --rule=none -- ./runtime | grep -c -- '--own\|--first')" -eq 0 ]
	expect 125 "$stablerun" --rule=missing -- true
	want grep -q "no rule is named 'missing'; 'stablerun rules' lists them" err
	rm "$rules/a-first.rule"
	# The user's hides the installed one of its name.
	rule luajit '[match]' 'when = note:Own' '[about]' 'name = Mine'
	expect 0 "$stablerun" rules
	want grep -q "^luajit: Mine (your own)" out
	want [ "$(grep -c '^luajit:' out)" -eq 1 ]
	rm "$rules/luajit.rule"
}
check "which rule" chosen

# complains LINE TEXT RULE-LINE...: the rule is refused with that line and text.
complains() {
	line=$1 text=$2
	shift 2
	rule own "$@"
	expect 125 "$stablerun" rules
	grep -qF "$rules/own.rule:$line: $text" err || fail "no '$line: $text' in: $(cat err)"
	expect 125 "$stablerun" --rule=own -- true
	# Met while looking for another it is a warning, and the program runs.
	expect 0 "$stablerun" --env=keep -- ./runtime
	grep -qF "warning: rule ignored: $rules/own.rule:$line: $text" err || [ -n "${quiet:-}" ] ||
		fail "no warning: $(cat err)"
}
broken() {
	complains 2 "a name alone is no evidence" '[match]' 'when = file:runtime'
	complains 2 "a test is one of file:, needs:" '[match]' 'when = program:runtime'
	complains 3 "unknown key 'where' in [match]" '[match]' 'when = note:Own' 'where = here'
	complains 4 "unknown key 'argument'" '[match]' 'when = note:Own' '[pin]' 'argument = x'
	complains 5 "'1=2' is no variable" '[match]' 'when = note:Own' '[pin]' 'arg = x' 'env = 1=2'
	complains 4 "unknown section [other]" '[match]' 'when = note:Own' '[other]' 'x = y'
	complains 4 "'soon' is no clock" '[match]' 'when = note:Own' '[needs]' 'clock = soon'
	complains 4 "'x' is no seed" '[match]' 'when = note:Own' '[needs]' 'seed = x'
	complains 4 "'/etc/passwd' is no file that can be collected" '[match]' 'when = note:Own' \
		'[collect]' 'file = /etc/passwd'
	complains 3 "neither a [section] nor KEY = VALUE" '[match]' 'when = note:Own' 'rubbish'
	complains 4 "the line is no text of at most" '[match]' 'when = note:Own' '[about]' \
		"why = $(printf 'x%.0s' $(seq 300))"
	complains 1 "the rule recognises nothing" '; empty'
}
check "errors as file and line" broken
rm -f "$rules/own.rule"

installed() {
	expect 0 "$stablerun" rules
	for name in dotnet erlang guile java jit julia luajit mono node php pypy python qemu-user ruby sbcl; do
		want grep -q "^$name: " out
	done
	expect 0 "$stablerun" rules java
	want grep -q "System.nanoTime" out
	expect 125 "$stablerun" rules nothing
	# Beside an installed program they stand in share/.
	mkdir -p prefix/bin prefix/share/stablerun && cp "$stablerun" prefix/bin/ &&
		cp -r "$SRC/etc/rules" prefix/share/stablerun/
	want [ "$(prefix/bin/stablerun rules | grep -c ': ')" -ge 15 ]
	want [ "$(prefix/bin/stablerun rules java | sed -n 's/^ *file *//p')" = \
		"$PWD/prefix/share/stablerun/rules/java.rule" ]
}
check "the installed ones" installed

jit() {
	plan -o kept -- "$BUILD/jit" -c pass >planned
	want grep -q '^argument  *-p  *rule jit, because the run is kept' planned
	cp "$BUILD/jit" other-name
	want [ "$(plan -o kept -- ./other-name -c pass | grep -c 'rule jit, because')" -eq 1 ]
	want [ "$(plan -o kept -- /usr/bin/python3 -c pass | grep -c 'rule jit')" -eq 0 ]
}
check "the JIT beside stablerun, by its contents" jit
finish
