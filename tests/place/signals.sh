#!/bin/bash
# Signals that meet a launch at any moment do what they do to a plain one: none is lost, none
# is made up. And a helper that is killed leaves no half-moved program.
. "$SRC/tests/lib.sh"
. "$SRC/tests/place/lib.sh"
gcc -O1 -D_GNU_SOURCE -o starter "$SRC/tests/place/starter.c"
gcc -O1 -o waiter "$SRC/tests/place/waiter.c"
build_probe pie probe

# met ROUNDS WAYS ARGUMENT...: every round ended in one of the ways.
met() {
	rounds=$1 ways=$2
	shift 2
	./starter "$@" >counts || return 1
	cat counts
	[ "$(awk -v ways="$ways" 'index(ways, $1) { sum += $2 } END { print sum }' counts)" \
		-eq "$rounds" ]
}
check "SIGTERM 500 times" met 500 "died handled" 15 500 "$stablerun" --place=move -- ./waiter
check "SIGTERM 100 times, blocked at first" met 100 handled \
	15 100 blocked "$stablerun" --place=move -- ./waiter
check "SIGSTOP 60 times" met 60 handled 19 60 "$stablerun" --place=move -- ./waiter
chmod 755 waiter
nobody=
[ "$(id -u)" -ne 0 ] || nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
# shellcheck disable=SC2086 # words, or none
check "SIGTERM 60 times in a container, as nobody" met 60 handled \
	15 60 blocked $nobody "$refuse" "$stablerun" -- ./waiter

cat >kill.py <<'END'
import os, random, signal, subprocess, sys, time
stablerun, rounds = sys.argv[1], int(sys.argv[2])
random.seed(1)
def tracer(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            for line in status:
                if line.startswith("TracerPid:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0
def run():
    return subprocess.Popen([stablerun, "--place=move", "--", "./probe"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
wanted = run().communicate()[0]
ends = {"moved": 0, "unmoved": 0, "killed": 0, "refused": 0}
met = 0
for _ in range(rounds):
    program = run()
    helper = 0
    while not helper and program.poll() is None:
        helper = tracer(program.pid)
    if helper:
        time.sleep(random.random() * 0.003)
        # It may have ended, but its number is not used again so soon.
        if tracer(program.pid) == helper:
            os.kill(helper, signal.SIGKILL)
            met += 1
    out, err = program.communicate(timeout=60)
    if program.returncode == 0:
        assert out.count("\n") == 15, out
        ends["moved" if out == wanted else "unmoved"] += 1
    elif program.returncode == 125:
        assert not out and err.startswith("stablerun: "), (out, err)
        ends["refused"] += 1
    else:
        assert program.returncode == -signal.SIGKILL and not out, (program.returncode, out, err)
        ends["killed"] += 1
print(met, ends)
# It runs where it was to run, or not at all.
assert met > 0 and not ends["unmoved"]
END
check "the helper killed" /usr/bin/python3 kill.py "$stablerun" 80

# Ctrl-C on a terminal reaches the whole foreground group: nobody but the program dies of it.
cat >group.py <<'END'
import os, signal, subprocess, sys, time
for moment in range(0, 30):
    program = subprocess.Popen([sys.argv[1], "--place=move", "--", "./waiter"],
        stdout=subprocess.PIPE, start_new_session=True)
    time.sleep(moment * 0.0007)
    os.killpg(program.pid, signal.SIGINT)
    assert program.wait(timeout=60) in (-signal.SIGINT, 3), program.returncode
END
check "SIGINT to the group" /usr/bin/python3 group.py "$stablerun"
finish
