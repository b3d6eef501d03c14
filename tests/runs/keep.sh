#!/bin/bash
# stablerun -o RUN: what run.json says is true, the program is undisturbed, and a RUN is never
# lost, never a half and never another's directory.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

# want COMMAND...: fails unless the command succeeds (a case has no errexit).
want() { "$@" || fail "$*"; }

# complete RUN: waits for the helper, as the readers of a RUN do.
complete() {
	for _ in $(seq 600); do
		[ ! -e "$1/run.json" ] || return 0
		sleep 0.05
	done
	echo "no $1/run.json"
	return 1
}

cat >program.py <<'END'
import json, os, resource, subprocess, sys, time
with open("/proc/self/auxv", "rb") as file:
    auxv = file.read().hex()
names = "as core cpu data fsize memlock nofile nproc stack".split()
print(json.dumps({
    "pid": os.getpid(), "cwd": os.getcwd(), "argv": sys.orig_argv, "auxv": auxv,
    "env": {k: v for k, v in os.environ.items()},
    "ppid": os.getppid(),
    "limits": {n: resource.getrlimit(getattr(resource, "RLIMIT_" + n.upper())) for n in names},
    "maps": open("/proc/self/maps").read(),
}), flush=True)
time.sleep(0.6)
sys.exit(int(sys.argv[1]))
END
cat >compare.py <<'END'
import json, os, platform, re, struct, subprocess, sys
run, seen = json.load(open(sys.argv[1] + "/run.json")), json.load(open(sys.argv[2]))
assert run["schema"] == 1 and run["runs"] == 1
assert run["argv"] == seen["argv"], run["argv"]
assert run["exec"] == "/usr/bin/python3", run["exec"]
env = dict(item.split("=", 1) for item in run["env"] if isinstance(item, str))
# The pad is one letter, so often.
assert env["STABLERUN_PAD"] == "" and set(seen["env"]["STABLERUN_PAD"]) == {"x"}
env["STABLERUN_PAD"] = "x" * run["pad"]
odd = [item for item in run["env"] if not isinstance(item, str)]
assert odd == [{"hex": b"ODD=a\xff\xfe".hex()}], odd
assert all(seen["env"][k] == v for k, v in env.items()), "env"
# The interpreter itself may add LC_CTYPE to what it got.
assert len(env) + 1 in (len(seen["env"]), len(seen["env"]) - 1), "env count"
assert run["cwd"] == seen["cwd"] and run["pid"] == seen["pid"], run["pid"]
assert run["exit"] == {"status": 5}, run["exit"]
infinite = lambda v: "unlimited" if v == -1 else v
for name, (soft, hard) in seen["limits"].items():
    assert run["rlimits"][name] == [infinite(soft), infinite(hard)], (name, run["rlimits"])
assert int(run["personality"], 16) & 0x40000 and run["place"] == "personality"
words = struct.iter_unpack("<QQ", bytes.fromhex(seen["auxv"]))
have = {int(v, 16) for v in run["auxv"].values()}
assert all(value in have for key, value in words if key), "auxv"
assert run["auxv"]["AT_PAGESZ"] == "0x1000" and run["auxv"]["AT_ENTRY"]
assert run["kernel"].startswith(platform.release())
flags = re.search(r"^flags\s*: (.*)$", open("/proc/cpuinfo").read(), re.M).group(1)
assert run["cpu"]["features"] == flags
assert run["ld_so_cache_size"] == os.stat("/etc/ld.so.cache").st_size
libc = next(p for p in run["build_ids"] if "/libc.so" in p)
notes = subprocess.run(["readelf", "-n", libc], capture_output=True, text=True).stdout
assert "Build ID: " + run["build_ids"][libc] in notes
a, b = run["clocks"]["start"], run["clocks"]["end"]
for clock in ("realtime", "monotonic"):
    assert 500_000_000 < b[clock] - a[clock] < 600_000_000_000, clock
assert run["lost"] == {"samples": 0, "code": []} and run["event"] is None
pins = {p["name"]: p for p in run["pins"]}
assert pins["addresses"]["source"] == "default" and "0x40000" in pins["addresses"]["value"]
# Every mapping that the program itself saw is in maps.exit, at the same address.
kept = open(sys.argv[1] + "/maps.exit").read()
for line in seen["maps"].splitlines():
    if ".so" in line or "[stack]" in line or "[heap]" in line:
        assert line.split("-")[0] in kept, line
assert "python3" in open(sys.argv[1] + "/maps.start").read()
END

says_true() {
	ODD=$'a\xff\xfe' expect 5 "$stablerun" -o kept -- /usr/bin/python3 program.py 5
	want complete kept
	want /usr/bin/python3 compare.py kept out
}
check "run.json says what the program saw" says_true

ends() {
	expect 137 sh -c '"$1" -o killed -- sh -c "kill -9 \$\$"; exit $?' x "$stablerun"
	want complete killed
	want grep -q '"signal": 9' killed/run.json
}
check "a death by signal" ends

pid_stays() {
	sh -c 'echo $$; exec "$1" -o pid -- sh -c "echo \$\$; echo \$PPID"' x "$stablerun" >pids
	want complete pid
	want [ "$(sed -n 1p pids)" = "$(sed -n 2p pids)" ]
	want grep -q "\"pid\": $(sed -n 1p pids)," pid/run.json
}
check "the program keeps its pid" pid_stays

pipe_ends() {
	# The reader ends when the program does, whatever the helper still has to do.
	"$stablerun" -o piped -- echo hello | cat >said
	want [ "$(cat said)" = hello ]
	want complete piped
}
check "no pipe is held" pipe_ends

exists() {
	mkdir -p there && echo mine >there/file
	expect 125 "$stablerun" -o there -- true
	want grep -q "exists already (-f replaces it)" err
	expect 125 "$stablerun" -f -o there -- true
	want grep -q "is no RUN" err
	want [ "$(cat there/file)" = mine ]
	expect 0 "$stablerun" -o again -- true
	want complete again
	expect 125 "$stablerun" -o again -- false
	want grep -q '"status": 0' again/run.json
	expect 1 "$stablerun" -f -o again -- false
	for _ in $(seq 200); do
		! grep -q '"status": 1' again/run.json 2>/dev/null || break
		sleep 0.05
	done
	want grep -q '"status": 1' again/run.json
}
check "an existing RUN is replaced only with -f" exists

not_found() {
	expect 127 "$stablerun" -o nothing -- ./missing
	want [ ! -e nothing ]
	printf '#!/no/interpreter\n' >script && chmod +x script
	expect 126 "$stablerun" -o nothing -- ./script
	printf '\177ELF rubbish' >broken && chmod +x broken
	expect 126 "$stablerun" -o nothing -- ./broken
	for _ in $(seq 100); do
		[ -n "$(ls -A | grep '^\.nothing')" ] || break
		sleep 0.05
	done
	want [ ! -e nothing ]
	want [ -z "$(ls -A | grep '^\.nothing')" ]
}
check "no RUN of what was not executed" not_found

unwritable() {
	cp "$stablerun" here
	mkdir -p closed && chmod 555 closed
	chmod 755 . here
	expect 125 as_nobody ./here -o closed/run -- true
	want grep -q "cannot create '.*closed/run': Permission denied" err
	expect 125 ./here -o no/where/run -- true
	want grep -q "cannot keep the run in 'no/where/': No such file" err
	expect 125 ./here -o .. -- true
	want grep -q "it is no name" err
}
check "an unwritable place is refused before anything runs" unwritable

two() {
	"$stablerun" -o same -- sleep 0.5 &
	"$stablerun" -o same -- sleep 0.7
	wait
	want complete same
	want complete same.2
}
check "two runs into one RUN: both are kept" two

full_disk() {
	mkdir disk
	mount -t tmpfs -o size=600k tmpfs disk || return 1
	trap 'umount -l disk' EXIT
	# The reserve leaves the program itself a little room, which it fills.
	expect 3 "$stablerun" -o disk/run -- sh -c 'cat /dev/zero >disk/filler 2>/dev/null; exit 3'
	want complete disk/run
	want grep -q '"status": 3' disk/run/run.json
}
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs tmpfs /mnt 2>/dev/null; then
	umount /mnt
	check "a full disk loses nothing" full_disk
else
	echo "SKIP: a full disk loses nothing: no tmpfs can be mounted here"
fi

limited() {
	# 4 blocks of 512: too little for run.json.
	(
		ulimit -f 4
		expect 4 "$stablerun" -o limited -- sh -c 'exit 4'
		for _ in $(seq 200); do
			! grep -q "cannot write run.json" err || break
			sleep 0.05
		done
		want grep -q "cannot write run.json: File too large; what was collected is in" err
	)
	want [ ! -e limited ]
}
check "a limit on file sizes harms nobody" limited
finish
