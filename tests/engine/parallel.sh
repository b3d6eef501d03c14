#!/bin/bash
# stablerun perf --engine=parallel over three loopback hosts of ssh: the merged profile is that of
# as many runs here; a host that dies midway is named, tried twice, and loses nothing that
# others can make; a host with another kernel is told and left out.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"
. "$SRC/tests/engine/lib.sh"
[ -n "${ENGINE_RUNS-}" ] || skip "make check-engine runs it"
[ "$(id -u)" -eq 0 ] || skip "needs root for sshd"
need parallel parallel
parallel --version 2>/dev/null | grep -q "GNU parallel" || skip "parallel is not GNU's"
[ -x /usr/sbin/sshd ] || skip "sshd is not installed (package openssh-server)"
can_sample

mkdir ssh bin
ssh-keygen -q -t ed25519 -N '' -f ssh/key
ssh-keygen -q -t ed25519 -N '' -f ssh/host
cp ssh/key.pub ssh/authorized
cat >ssh/config <<END
Host *
IdentityFile $TMP/ssh/key
UserKnownHostsFile $TMP/ssh/known
StrictHostKeyChecking no
LogLevel ERROR
END
# Users have theirs in ~/.ssh.
printf '#!/bin/sh\nexec /usr/bin/ssh -F %s "$@"\n' "$TMP/ssh/config" >bin/ssh
chmod +x bin/ssh
export PATH=$TMP/bin:$PATH
# Debian makes it when the service starts.
mkdir -p /run/sshd

# start_host N [COMMAND...]: sshd on 127.0.0.N, run by COMMAND.
start_host() {
	number=$1
	shift
	for port in $(seq $((22000 + number * 10 + $$ % 1000 * 30)) $((22009 + number * 10 + $$ % 1000 * 30))); do
		port=$((port % 40000 + 20000))
		cat >"ssh/conf$number" <<END
Port $port
ListenAddress 127.0.0.$number
HostKey $TMP/ssh/host
AuthorizedKeysFile $TMP/ssh/authorized
PidFile $TMP/ssh/pid$number
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
END
		"$@" /usr/sbin/sshd -f "$TMP/ssh/conf$number" -E "$TMP/ssh/log$number" || continue
		for _ in $(seq 100); do
			ssh -p "$port" "127.0.0.$number" true 2>/dev/null && break 2
			sleep 0.1
		done
		kill_host "$number"
	done
	[ -e "ssh/pid$number" ] || skip "sshd does not start: $(tail -n 1 "ssh/log$number")"
	eval "host$number=127.0.0.$number:$port"
}
kill_host() {
	[ -e "ssh/pid$1" ] || return 0
	pid=$(cat "ssh/pid$1")
	pkill -P "$pid" || true
	kill "$pid" 2>/dev/null || true
	rm -f "ssh/pid$1"
}
trap 'kill_host 1; kill_host 2; kill_host 3' EXIT
start_host 1
start_host 2
start_host 3
hosts=$host1,$host2,$host3
engine() { "$stablerun" perf --engine=parallel "$@"; }
jit() { engine "$@" -- "$BUILD/jit" -p "$program" 100; }

same_profile() {
	record_here
	jit -n "$runs" -o there.run --hosts="$hosts" >there.out 2>there.err || fail "$(cat there.err)"
	want cmp here.out there.out
	want grep -q "$runs of $runs runs were made: .*[0-9] by '127.0.0.[123]:[0-9]*', " there.err
	for host in "$host1" "$host2" "$host3"; do
		want grep -q "by '$host'" there.err
	done
	samples=$("$BUILD/annotate" --json there.run | jq .samples)
	want grep -q "kept in '$PWD/there.run': $samples samples (cpu-clock:u at 4999 Hz, all runs), 0 lost\|kept in '$PWD/there.run': $samples samples" there.err
	want [ "$(field there.run runs)" = "$runs" ]
	equals_here there.run >&3 || fail "other profile"
	want [ -z "$(find . -maxdepth 1 -name '.there*')" ]
}
dies() {
	"$stablerun" perf --engine=parallel -n "$runs" -o dies.run --hosts="$hosts" -- \
		"$BUILD/jit" -p "$program" 100 >dies.out 2>dies.err &
	engine_pid=$!
	for _ in $(seq 1200); do
		[ "$(cat .dies.run.*/engine/joblog 2>/dev/null | wc -l)" -lt 3 ] || break
		kill -0 $engine_pid || break
		sleep 0.05
	done
	kill_host 3
	got=0
	wait $engine_pid || got=$?
	cat dies.err
	want [ "$got" -eq 0 ]
	want grep -q "host '$host3' failed, was tried once more and given up: ." dies.err
	want grep -q "$runs of $runs runs were made" dies.err
	want [ "$(field dies.run runs)" = "$runs" ]
	want [ "$(wc -l <dies.out)" -eq "$runs" ]
}
all_dead() {
	got=0
	jit -n 3 -o none.run --hosts="$host3" >out 2>err || got=$?
	cat err
	want [ "$got" -eq 125 ]
	want grep -q "host '$host3' failed, was tried once more and given up: .*refused" err
	want grep -q "3 of 3 runs were not made: 1, 2, 3" err
	want [ ! -e none.run ]
	want [ -z "$(find . -maxdepth 1 -name '.none*')" ]
}
differs() {
	# A host that tells another kernel.
	start_host 3 setarch --uname-2.6
	jit -n 6 -o differs.run --hosts="$host1,$host2,$host3" >out 2>err || fail "$(cat err)"
	cat err
	theirs=$(sed -n "s/.*[ ,]\([0-9]*\) by '$host3'.*/\1/p" err)
	want [ "$theirs" -gt 0 ]
	want grep -q "$theirs of 6 runs differ from the others, those of '$host3': kernel .*2\.6\..*, not .*; left out" err
	want [ "$(field differs.run runs)" -eq $((6 - theirs)) ]
	jit -n 6 -o kept.run --differing=keep --hosts="$host1,$host2,$host3" >out 2>err || fail "keep"
	want grep -q "; kept all the same" err
	want [ "$(field kept.run runs)" -eq 6 ]
	got=0
	jit -n 6 -o refused.run --differing=refuse --hosts="$host1,$host2,$host3" >out 2>err || got=$?
	want [ "$got" -eq 125 ]
	want [ ! -e refused.run ]
}
no_launcher() {
	got=0
	jit -n 2 -o no.run --remote=/nowhere/stablerun --hosts="$host1" >out 2>err || got=$?
	want [ "$got" -eq 125 ]
	want grep -q "host '$host1' failed, .*/nowhere/stablerun.*No such file" err
}
statuses() {
	# The environment and the arguments arrive as they are; the program's status is ours.
	cat >"$TMP/says.sh" <<'END'
echo "$1|$ODD"
echo "said $1" >&2
sleep 0.1
exit 7
END
	odd=$'two\nlines {} '"'quoted' \"\$HOME\" {1} \\"
	got=0
	ODD=$odd engine -n 2 -o says.run --hosts="$host1,$host2" -- sh "$TMP/says.sh" "a b{}" >out 2>err || got=$?
	want [ "$got" -eq 7 ]
	want [ "$(cat out)" = "a b{}|$odd"$'\n'"a b{}|$odd" ]
	want [ "$(grep -c '^said a b{}$' err)" -eq 2 ]
	want [ "$(field says.run/2 cwd)" = "$PWD" ]
}
stopped() {
	"$stablerun" perf --engine=parallel -n 60 -o stopped.run --hosts="$host1" -- sleep 0.3 >out 2>err &
	engine_pid=$!
	for _ in $(seq 1200); do
		[ "$(cat .stopped.run.*/engine/joblog 2>/dev/null | wc -l)" -lt 2 ] || break
		sleep 0.05
	done
	kill -TERM $engine_pid
	wait $engine_pid || true
	cat err
	want [ "$(field stopped.run runs)" -lt 60 ]
	want grep -q "of 60 runs were not made" err
}
options() {
	expect 125 engine --hosts=, -- true
	want grep -q "no host in '--hosts=,'" err
	expect 125 "$stablerun" perf --hosts=a -- true
	want grep -q "need --engine=parallel or --engine=slurm" err
	expect 125 "$stablerun" perf --engine=other -- true
	want grep -q "bad value 'other' for option '--engine': expected parallel or slurm" err
	expect 125 engine --jobs=0 -- true
	mkdir -p empty && ln -sf /bin/sh empty/sh && ln -sf /bin/true empty/true
	PATH=$PWD/empty expect 125 "$stablerun" perf --engine=parallel -- true
	want grep -q "cannot run 'parallel': it is not installed" err
	# Here, without hosts.
	expect 0 engine -n 2 --jobs=2 -o local.run -- true
	want grep -q "2 of 2 runs were made: 2 by 'this machine'" err
}
exec 3>&1
check "same profile" same_profile
check "a host dies" dies
check "all are dead" all_dead
check "a host differs" differs
check "no stablerun there" no_launcher
check "words and statuses" statuses
check stopped stopped
check options options
finish
