#!/bin/bash
# The exit status is the program's own and a death by signal stays one; what the launcher
# itself cannot do is 125, 126 or 127 with one line that says what is wrong.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

# refused STATUS TEXT COMMAND...: the status, nothing on stdout, one line with our name that
# holds TEXT.
refused() {
	status=$1 text=$2
	shift 2
	expect "$status" "$@" || return 1
	cat err
	[ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q '^stablerun: ' err &&
		grep -qF -- "$text" err
}

for status in 0 1 2 42 125 126 127 128 255; do
	check "exit $status" expect $status "$stablerun" -- sh -c "exit $status"
done

# The waiting parent is Python, because a shell turns signals into statuses.
died_by() {
	/usr/bin/python3 - "$1" "$stablerun" <<-'END'
		import subprocess, sys
		number = int(sys.argv[1])
		child = subprocess.run([sys.argv[2], "--", "sh", "-c", f"kill -{number} $$"])
		sys.exit(child.returncode != -number)
	END
}
ulimit -c 0
for signal in 1 2 3 6 9 11 13 15 34; do
	check "signal $signal" died_by $signal
done

same_pid() {
	"$stablerun" -- sh -c 'echo $$' >pid &
	wait $!
	[ "$(cat pid)" = $! ]
}
check "same pid" same_pid

stops_and_goes_on() {
	/usr/bin/python3 - "$stablerun" <<-'END'
		import os, signal, subprocess, sys
		child = subprocess.Popen([sys.argv[1], "--", "sh", "-c", "kill -STOP $$; exit 7"])
		_, status = os.waitpid(child.pid, os.WUNTRACED)
		assert os.WIFSTOPPED(status)
		os.kill(child.pid, signal.SIGCONT)
		_, status = os.waitpid(child.pid, 0)
		assert os.WEXITSTATUS(status) == 7
	END
}
check "stopped" stops_and_goes_on

# Bad input.
echo 'echo hello' >no-line
printf '#!/does/not/exist -x\n' >no-interpreter
printf '#!%s/no-line-x\n' "$TMP" >bad-interpreter
printf '#!%s\n' "$TMP" >directory-interpreter
printf '#!\n' >empty-line
printf '#!/bin/sh\r\necho\r\n' >dos
printf '#!/usr/bin/env does-not-exist-here\n' >env-missing
printf '#!%s/loop\n' "$TMP" >loop
: >empty
printf '\0\1\2binary' >binary
printf '\177ELF\2\1\1' >cut-elf
echo 'int main(void) { return 0; }' >main.c
gcc -c -o object.o main.c
gcc -o good main.c
head -c 100 good >cut-headers
gcc -Wl,--dynamic-linker=/lib/ld-does-not-exist.so.1 -o no-ld main.c
cp good arm
printf '\267' | dd of=arm bs=1 seek=18 conv=notrunc 2>/dev/null # EM_AARCH64
cp good core
printf '\4' | dd of=core bs=1 seek=16 conv=notrunc 2>/dev/null # ET_CORE
mkfifo fifo
chmod 755 no-line no-interpreter bad-interpreter directory-interpreter empty-line dos \
	env-missing loop empty binary cut-elf object.o cut-headers no-ld arm core fifo
echo x >not-executable
echo x >no-line-x
mkdir -p path/tool path2
echo '#!/bin/sh' >path2/tool
ln -s itself itself

# Names with control characters come out as escapes, on one line.
while IFS='|' read -r status text words; do
	eval "check \"refused: \$words\" refused $status \"\$text\" \"\$stablerun\" $words"
done <<'END'
125|no command given|
125|no command given|--
125|unrecognized option|--no-such-option -- true
125|'sometimes' for option '--env': expected pinned, keep or clean|--env=sometimes -- true
125|'x' for option '--cpu'|--cpu=x true
125|'-1' for option '--cpu'|--cpu=-1 true
125|'99999' for option '--cpu'|--cpu=99999 true
125|cannot run on CPU 1023|--cpu=1023 true
125|'here' for option '--place'|--place=here true
125|'xml' for option '--plan'|--plan=xml true
125|'1x' for option '--seed'|--seed=1x true
125|'' for option '--seed'|--seed= true
125|'18446744073709551616' for option '--seed'|--seed=18446744073709551616 true
125|option '-f' needs '-o RUN'|-f -- true
125|requires an argument|-o
127|'does-not-exist-here': no such command along PATH|-- does-not-exist-here
127|'./does-not-exist': No such file|-- ./does-not-exist
127|'/no/such/path': No such file|/no/such/path
127|the command's name is empty|-- ''
127|'a\nb\033[31m\177': no such command|-- $'a\nb\e[31m\177'
127|'./a\tb\r': No such file|-- $'./a\tb\r'
126|it is a directory|-- .
126|it is a directory|/usr/bin
126|it is a directory|./path
126|it is not executable (chmod +x)|./not-executable
126|it is not a regular file|/dev/null
126|it is not a regular file|./fifo
126|Not a directory|./good/x
126|Too many levels of symbolic links|./itself
126|it is text without a '#!' line|./no-line
126|'./no-interpreter': its interpreter '/does/not/exist' does not exist|./no-interpreter
126|it is not executable (chmod +x)|./bad-interpreter
126|cannot be executed: it is a directory|./directory-interpreter
126|its '#!' line names no interpreter|./empty-line
126|DOS line ends|./dos
126|'does-not-exist-here', that '/usr/bin/env' looks for, is nowhere along PATH|./env-missing
126|scripts interpret one another|./loop
126|it is empty|./empty
126|it is neither an ELF file nor a script|./binary
126|it is a truncated ELF file|./cut-elf
126|it is a truncated ELF file|./cut-headers
126|it is an object file that was never linked|./object.o
126|another architecture: ARM (aarch64)|./arm
126|it is a core file|./core
126|its ELF interpreter '/lib/ld-does-not-exist.so.1' does not exist|./no-ld
END

# A name that is there but may not be executed is not "not found".
check "not executable along PATH" env PATH="$TMP/path:$TMP/path2" \
	/bin/bash -c '"$0" -- tool; [ $? -eq 126 ]' "$stablerun"
chmod +x path2/tool
check "a directory along PATH is passed over" env PATH="$TMP/path:$TMP/path2" \
	"$stablerun" -- tool
in_current() { (cd path2 && PATH=:/bin "$stablerun" -- tool); }
check "an empty element of PATH" in_current
check "without PATH" env -i "$stablerun" -- true

# Options end at the command's name, and at "--".
echoes() {
	want=$1
	shift
	[ "$("$stablerun" "$@")" = "$want" ]
}
check "options after the command" echoes "--plan -o x" echo --plan -o x
check "options after --" echoes "-- --help" -- echo -- --help
check "a command named as an option" refused 127 "'--help'" "$stablerun" -- --help
printf '#!/bin/sh\necho mine\n' >path2/perf
chmod +x path2/perf
check "a command named as a subcommand" env PATH="$TMP/path2:$PATH" \
	bash -c '[ "$("$0" -- perf)" = mine ]' "$stablerun"

# Standard output belongs to the program.
closed() {
	"$stablerun" -- sh -c 'exit 3' >&- 2>&- <&-
	[ $? -eq 3 ]
}
check "all descriptors closed" closed
full() {
	"$stablerun" --plan -- true >/dev/full 2>err
	[ $? -eq 125 ] && grep -q 'No space left on device' err
}
check "--plan to a full device" full
full_version() {
	"$stablerun" --version >/dev/full 2>err
	[ $? -eq 125 ]
}
check "--version to a full device" full_version
finish
