"""terminal.py COMMAND...: types at an interactive shell on a terminal of its own: COMMAND (it
sleeps), Ctrl-Z, fg, Ctrl-C; COMMAND again in the background, kill %1. Prints what happened."""
import os
import pty
import re
import select
import sys
import time


class Shell:
    def __init__(self):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ["PS1"] = "READY> "
            os.environ["TERM"] = "dumb"
            os.execv("/bin/bash", ["bash", "--norc", "--noprofile", "-i"])
        self.text = ""

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def expect(self, pattern, seconds=60):
        """Reads until the pattern is there; returns all up to its end."""
        end = time.time() + seconds
        while True:
            found = re.search(pattern, self.text)
            if found:
                before = self.text[:found.end()]
                self.text = self.text[found.end():]
                return before
            if time.time() > end:
                sys.exit("no %r in %r" % (pattern, self.text))
            if select.select([self.terminal], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.terminal, 65536).decode(errors="replace")
                except OSError:
                    sys.exit("the shell ended: %r" % self.text)


def main():
    command = " ".join(sys.argv[1:])
    shell = Shell()
    shell.expect("READY> ")
    shell.type("stty -echo\n")
    shell.expect("READY> ")
    shell.type(command + "\n")
    shell.expect("begun")
    shell.type("\x1a")
    shell.expect("Stopped")
    shell.expect("READY> ")
    print("stopped")
    shell.type("fg\n")
    # The shell names the command, then it has the terminal again.
    shell.expect("\n")
    time.sleep(0.2)
    shell.type("line\n")
    shell.expect("read line")
    print("continued and reads the terminal")
    shell.type("\x03")
    shell.expect("READY> ")
    shell.type("echo status=$?\n")
    print(shell.expect(r"status=\d+").split()[-1])
    shell.type(command + " </dev/null &\n")
    shell.expect("begun")
    shell.type("\n")
    shell.expect("READY> ")
    shell.type("kill %1; wait %1; echo status=$?\n")
    print(shell.expect(r"status=\d+").split()[-1])
    shell.type("exit\n")
    os.waitpid(shell.pid, 0)


main()
