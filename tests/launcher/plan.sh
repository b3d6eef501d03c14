#!/bin/bash
# --plan tells what the program then really gets: both are read and compared. And nothing
# else reaches the program: descriptors, signals, umask, limits stay as the caller has them.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

cat >show.py <<'END'
import json, os, resource, sys
with open("/proc/self/personality") as file:
    persona = int(file.read(), 16)
with open("/proc/self/environ", "rb") as file:
    env = [item.decode("utf-8", "replace") for item in file.read().split(b"\0")[:-1]]
print(json.dumps({
    "argv": sys.orig_argv, "env": env, "cwd": os.getcwd(), "personality": persona,
    "stack": resource.getrlimit(resource.RLIMIT_STACK),
    "cpus": sorted(os.sched_getaffinity(0)), "exe": os.readlink("/proc/self/exe")}))
END

cat >compare.py <<'END'
import json, os, subprocess, sys
stablerun, *options = sys.argv[1:]
end = options.index("--")
options, command = options[:end], options[end + 1:]
plan = json.loads(subprocess.run([stablerun, "--plan=json", *options, "--", *command],
    check=True, capture_output=True).stdout)
seen = json.loads(subprocess.run([stablerun, *options, "--", *command],
    check=True, stdout=subprocess.PIPE).stdout)
assert plan["schema"] == 1 and plan["refused"] is None, plan
assert seen["argv"] == plan["argv"], (seen["argv"], plan["argv"])
assert seen["env"] == plan["env"], set(seen["env"]) ^ set(plan["env"])
assert seen["cwd"] == plan["cwd"] == os.getcwd()
assert seen["personality"] == int(plan["personality"], 16), seen["personality"]
assert seen["stack"] == plan["rlimits"]["stack"], (seen["stack"], plan["rlimits"])
assert seen["exe"] == os.path.realpath(plan["exec"])
if plan["cpu"] is not None:
    assert seen["cpus"] == [plan["cpu"]], seen["cpus"]
else:
    assert seen["cpus"] == sorted(os.sched_getaffinity(0))
pins = {pin["name"]: pin for pin in plan["pins"]}
assert all(pin["value"] and pin["source"] for pin in plan["pins"])
names = [item.split("=")[0] for item in seen["env"]]
mode = next((o.split("=")[1] for o in options if o.startswith("--env=")), "pinned")
pads = [name for name in names if name.startswith("STABLERUN_PAD")]
if mode == "keep":
    assert not pads and "stack pad" not in pins
    mine = [(k + b"=" + v).decode("utf-8", "replace") for k, v in os.environb.items()]
    assert seen["env"] == mine
else:
    assert names[0] == "STABLERUN_PAD" and names[len(pads):] == sorted(names[len(pads):])
    assert "stack pad" in pins
    assert not {"_", "SHLVL", "OLDPWD", "LINES", "COLUMNS"} & set(names)
    assert f"PWD={os.getcwd()}" in seen["env"]
if mode == "clean":
    assert set(names) - set(pads) == {"HOME", "LANG", "PATH", "PWD"}
if mode == "pinned":
    assert set(plan["dropped"]) >= {"LINES"}, plan["dropped"]
    assert "ODD=\ufffd\ufffd" in seen["env"]
END

export LINES=3 ODD=$'\xff\xfe' ZERO=
compare() { /usr/bin/python3 compare.py "$stablerun" "$@"; }
check "plan: default" compare -- /usr/bin/python3 show.py "an argument" '' $'a\nb'
check "plan: along PATH" env PATH=/usr/bin:/bin /usr/bin/python3 compare.py "$stablerun" \
	-- python3 show.py
check "plan: keep" compare --env=keep -- /usr/bin/python3 show.py
check "plan: clean" compare --env=clean -- /usr/bin/python3 show.py
check "plan: one CPU" compare --cpu=0 -- /usr/bin/python3 show.py
check "plan: off" compare --place=off -- /usr/bin/python3 show.py
check "plan: personality" compare --place=personality -- /usr/bin/python3 show.py
printf '#!/usr/bin/python3 -X utf8\n' >script
cat show.py >>script
chmod 755 script
check "plan: script" compare -- ./script
small() (
	ulimit -Ss 4096 -Hs 4096
	compare -- /usr/bin/python3 show.py && "$stablerun" --plan -- true | grep -q 'the hard limit'
)
check "plan: low hard limit" small

# A program that counts on a deep stack: what it does not get is said.
deep() (
	ulimit -Ss unlimited
	"$stablerun" --plan -- true | grep -q "8 MiB (the caller's: unlimited) *default"
)
check "plan: unlimited stack" deep

# The text has every pin of the JSON, and runs nothing.
text() {
	"$stablerun" --plan --cpu=0 -- sh -c ': >ran' >text || return 1
	cat text
	for word in program addresses environment 'stack pad' 'stack limit' 'option --cpu' \
		'execute       /' "arguments     sh -c ': >ran'" 'ODD=' LINES; do
		grep -qF -- "$word" text || { echo "no '$word'"; return 1; }
	done
	[ ! -e ran ] && [ "$(wc -c <text)" -lt 20000 ]
}
check "plan: text" text

# The words are quoted so that a shell reads them back.
quoting() {
	words=(sh 'a b' "it's" '' $'tab\tnew\nline' $'\e[31m' '$HOME `x` "y" \' $'quote\'\001' 'ü')
	eval "got=($("$stablerun" --plan -- "${words[@]}" | sed -n 's/^arguments *//p'))"
	[ "${#got[@]}" -eq "${#words[@]}" ] || return 1
	for i in "${!words[@]}"; do
		[ "${got[i]}" = "${words[i]}" ] || { printf '%q\n' "${got[i]}" "${words[i]}"; return 1; }
	done
	! "$stablerun" --plan -- "${words[@]}" | LC_ALL=C grep -q $'[\001-\010\013-\037\177]'
}
check "plan: quoting" quoting

# What the caller has set up reaches the program untouched: compared with the same program
# started without the launcher. The limit on the stack and the personality are the launcher's.
cat >state.py <<'END'
import os, resource, signal, subprocess, sys
show = ["sh", "-c", "grep -E '^(Umask|Sig[PBIC]|Shd|Cap|Groups|NoNewPrivs|Seccomp|Cpus_allowed_list)'"
    " /proc/$$/status; ls /proc/$$/fd; pwd -P; ulimit -a | grep -v stack;"
    " ps -o ni=,cls=,pgid=,sid=,tty=,ppid= -p $$; cat /proc/$$/oom_score_adj"]
def prepare():
    os.umask(0o137)
    os.chdir("/usr")
    os.setpgid(0, 0)
    os.nice(3)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR2, signal.SIGTERM})
    resource.setrlimit(resource.RLIMIT_NOFILE, (99, 200))
    os.dup2(1, 42)
    os.dup2(1, 7)
def look(prefix):
    child = subprocess.Popen(prefix + show, stdout=subprocess.PIPE, preexec_fn=prepare,
        close_fds=False, restore_signals=False)
    text = child.communicate()[0].decode().replace(str(child.pid), "PID")
    assert child.returncode == 0
    return text
bare, mine = look([]), look([sys.argv[1], "--"])
assert "\n42\n" in bare and "0137" in bare, bare
if bare != mine:
    sys.exit(f"bare:\n{bare}\nours:\n{mine}")
END
check "nothing leaks" /usr/bin/python3 state.py "$stablerun"
finish
