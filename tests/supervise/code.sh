#!/bin/sh
# Code at exit: for every kind of memory and every route by which code goes away, code.elf
# holds the bytes that the program says it had.
. "$SRC/tests/supervise/lib.sh"

build minijit -pthread
run=$BUILD/stablerun

# holds LINE: code.elf has the bytes of a line "ADDRESS BYTES" at that address.
holds() {
	address=${1%% *} bytes=${1#* }
	got=$(/usr/bin/python3 "$SRC/tests/supervise/elfbytes.py" kept/code.elf "$address" 64) ||
		return 1
	[ "$got" = "$bytes" ]
}

# field EXPRESSION: of run.json, as d.
field() {
	/usr/bin/python3 -c "import json; d = json.load(open('kept/run.json')); print($1)"
}

# case STATUS FATE KIND ROUTE
case_() {
	want=$1 fate=$2 kind=$3 route=$4
	got=0
	as_nobody "$run" -f -o kept -- ./minijit "$kind" "$route" >out 2>err || got=$?
	name="$kind memory, $route"
	if [ $got -ne "$want" ]; then
		echo "FAIL: $name: status $got"
		cat err
	elif grep -q ^stablerun err; then
		echo "FAIL: $name: $(cat err)"
	elif [ ! -e kept/code.elf ]; then
		echo "FAIL: $name: no code.elf: $(field "d['lost']")"
	elif ! holds "$(tail -n 1 out)"; then
		echo "FAIL: $name: $(tail -n 1 out) is not in code.elf"
	elif [ "$(field "any(c['fate'] == '$fate' for c in d['code'])")" != True ]; then
		echo "FAIL: $name: $(field "d['code']")"
	else
		echo "PASS: $name"
	fi
}

for kind in anonymous shared memfd execute-only deleted segment; do
	case_ 0 'live at exit' $kind exit_group
	case_ 0 unmapped $kind munmap
	case_ 0 'made not executable' $kind mprotect-none
	case_ 0 'moved away' $kind mremap
	case_ 0 'mapped over' $kind mmap
done
for kind in anonymous execute-only; do
	case_ 0 'made not executable' $kind mprotect-rw
	case_ 0 'made not executable' $kind pkey_mprotect
	case_ 0 discarded $kind dontneed
	# These pages stay until somebody needs them.
	case_ 0 'live at exit' $kind free
	case_ 0 'mapped over' $kind mremap-over
	case_ 0 unmapped $kind munmap-part
	case_ 0 'live at exit' $kind exit
	case_ 0 'live at exit' $kind thread
	case_ 0 'live at exit' $kind pthread_exit
	case_ 0 'replaced by another program' $kind exec
	case_ 0 unmapped $kind exec-jit
done
case_ 0 unmapped segment shmdt
case_ 0 'made not executable' anonymous toggle
case_ 0 unmapped anonymous reuse
! holds "$(head -n 1 out)" || echo "FAIL: the earlier code was kept in place of the later"

# Where a signal ends the program: its memory is held by ptrace.
for route in segv abort kill; do
	case $route in segv) number=139 ;; abort) number=134 ;; kill) number=137 ;; esac
	case_ $number 'live at the fatal signal' anonymous $route
	[ "$(field "d['exit']['signal']")" = $((number - 128)) ] ||
		echo "FAIL: exit of $route: $(field "d['exit']")"
done
# Somebody traces it already: said in the RUN, and nothing else is different.
if command -v strace >/dev/null; then
	rm -rf kept
	got=0
	strace -f -qq -o trace "$run" -o kept -- ./minijit anonymous segv >out 2>err || got=$?
	[ $got -eq 139 ] || echo "FAIL: status $got under strace"
	if [ "$(field "len(d['lost']['code'])")" = 1 ] &&
		[ "$(field "d['exit']['signal']")" = 11 ]; then
		echo "PASS: a crash under strace is told as lost"
	else
		echo "FAIL: a crash under strace: $(field "d['lost']")"
	fi
	rm -rf kept
	expect 0 strace -f -qq -o trace "$run" -o kept -- ./minijit anonymous munmap
	holds "$(tail -n 1 out)" || echo "FAIL: code under strace is not kept"
	echo "PASS: code under strace"
else
	echo "SKIP: strace: not installed (package strace)"
fi
