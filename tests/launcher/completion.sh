#!/bin/bash
# Completion in real interactive shells on a terminal: what a line becomes after Tab.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

mkdir bin functions
ln -s "$stablerun" bin/stablerun
cp "$SRC/etc/completions/_stablerun" functions/
mkdir one.run two.run
: >some.file

cat >lines <<'END'
stablerun ann|stablerun annotate
stablerun verif|stablerun verify
stablerun gath|stablerun gather
stablerun gather --diff|stablerun gather --differing
stablerun --env=p|stablerun --env=pinned
stablerun --place=m|stablerun --place=move
stablerun --vers|stablerun --version
stablerun --cpu=0 --pla|stablerun --cpu=0 --pla
stablerun --cpu=0 --plac|stablerun --cpu=0 --place
stablerun -o one|stablerun -o one.run
stablerun --again=tw|stablerun --again=two.run
stablerun gdb on|stablerun gdb one.run
stablerun setsi|stablerun setsid
stablerun -- setsi|stablerun -- setsid
stablerun -- ann|stablerun -- ann
stablerun --env=keep setsi|stablerun --env=keep setsid
stablerun -o one.run -- cat some.f|stablerun -o one.run -- cat some.file
stablerun cat some.f|stablerun cat some.file
END

cat >complete.py <<'END'
"""complete.py SHELL: for each line LINE|WANT of the file lines, types LINE and Tab into the
shell, on a terminal, and compares what the line becomes (but for what may follow a word)."""
import os, pty, re, select, sys, time
shell = sys.argv[1]
src = os.environ["SRC"]
bash = (f"PS1='> '; bind 'set enable-bracketed-paste off'; bind 'set bell-style none';"
        f" . {src}/etc/completions/stablerun.bash\n")
setup = {
    "bash": bash,
    "bash-completion": ". /usr/share/bash-completion/bash_completion; " + bash,
    "zsh": "PS1='> '; fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D;"
           " setopt no_beep no_auto_menu\n",
}[shell]
arguments = ["zsh", "-f"] if shell == "zsh" else ["bash", "--norc", "--noprofile"]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(PATH=f"{os.getcwd()}/bin:/usr/bin:/bin", TERM="xterm")
    os.execvp(arguments[0], arguments + ["-i"])
text = ""
def wait(pattern):
    global text
    end = time.time() + 120
    while not (found := re.search(pattern, text)):
        if time.time() > end:
            sys.exit(f"no {pattern!r} in: {text!r}")
        if select.select([fd], [], [], 1)[0]:
            text += os.read(fd, 65536).decode(errors="replace")
    text = text[found.end():]
    return found
def send(keys):
    os.write(fd, keys.encode())
send("stty cols 250; " + setup + "echo rea''dy\n")
wait(r"ready\r")
for entry in open("lines"):
    line, want = entry.rstrip("\n").split("|")
    send(line + "\t")
    # The keys wait in the terminal until completion is done: to the line's begin and end.
    send("\x01print''f '<%s>\\n' '\x05'\n")
    got = wait(r"(?:\n|\x1b\[J)<([^>\r]*)>\r")[1].rstrip(" /=")
    if got == want:
        print(f"PASS: {shell}: {line}")
    else:
        print(f"FAIL: {shell}: {line} became '{got}', not '{want}'")
os.close(fd)
os.waitpid(pid, 0)
END

for shell in bash bash-completion zsh; do
	if ! command -v "${shell%-*}" >/dev/null; then
		echo "SKIP: $shell: not installed (package $shell)"
	elif [ $shell = bash-completion ] && [ ! -e /usr/share/bash-completion/bash_completion ]; then
		echo "SKIP: $shell: not installed (package bash-completion)"
	else
		/usr/bin/python3 complete.py $shell || echo "FAIL: $shell: no session"
	fi
done
