#!/bin/bash
# stablerun perf --engine=slurm on a Slurm of one machine: the merged profile is that of as many
# runs here; a task that leaves no run is submitted once more and named; Ctrl-C cancels the job.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"
. "$SRC/tests/engine/lib.sh"
[ -n "${ENGINE_RUNS-}" ] || skip "make check-engine runs it"
[ "$(id -u)" -eq 0 ] || skip "needs root for slurmd"
need sbatch slurm-client
need slurmctld slurmctld
need slurmd slurmd
need munged munge
can_sample

# All of it in a directory of its own, on ports of its own, without cgroups or a database.
mkdir slurm slurm/state slurm/spool
dd if=/dev/urandom of=slurm/key bs=1024 count=1 2>/dev/null
chmod 400 slurm/key
node=$(hostname -s)
port=$((20000 + $$ % 20000))
cat >slurm/slurm.conf <<END
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$TMP/slurm/munge.sock
CredType=cred/munge
StateSaveLocation=$TMP/slurm/state
SlurmdSpoolDir=$TMP/slurm/spool
SlurmctldPidFile=$TMP/slurm/slurmctld.pid
SlurmdPidFile=$TMP/slurm/slurmd.pid
SlurmctldLogFile=$TMP/slurm/slurmctld.log
SlurmdLogFile=$TMP/slurm/slurmd.log
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
NodeName=$node NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$TMP/slurm/slurm.conf
stop() {
	for daemon in slurmd slurmctld munged; do
		[ ! -e "slurm/$daemon.pid" ] || kill "$(cat "slurm/$daemon.pid")" 2>/dev/null || true
	done
	for _ in $(seq 100); do
		pgrep -f "$TMP/slurm/" >/dev/null || break
		sleep 0.1
	done
}
trap stop EXIT
munged --force --key-file="$TMP/slurm/key" --socket="$TMP/slurm/munge.sock" \
	--pid-file="$TMP/slurm/munged.pid" --log-file="$TMP/slurm/munged.log" \
	--seed-file="$TMP/slurm/munged.seed" 2>munge.err || skip "munged: $(tail -n 1 munge.err)"
slurmctld 2>slurm.err || skip "slurmctld: $(tail -n 1 slurm.err)"
slurmd -N "$node" 2>slurm.err || skip "slurmd: $(tail -n 1 slurm.err)"
for _ in $(seq 300); do
	! sinfo -h -o %T 2>/dev/null | grep -q idle || break
	sleep 0.1
done
sinfo -h -o %T | grep -q idle || skip "Slurm does not start: $(tail -n 1 slurm/slurmctld.log)"

same_profile() {
	record_here
	"$stablerun" perf --engine=slurm -n "$runs" -o there.run -- "$BUILD/jit" -p "$program" 100 \
		>there.out 2>there.err || fail "$(cat there.err)"
	want cmp here.out there.out
	want grep -q "$runs of $runs runs were made: $runs by '$node'$" there.err
	want [ "$(field there.run runs)" = "$runs" ]
	equals_here there.run >&3 || fail "other profile"
	want [ -z "$(squeue -h)" ]
	want [ -z "$(find . -maxdepth 1 -name '.there*')" ]
}
once_more() {
	# A launcher that fails in task 2, and in task 3 the first time only.
	cat >"$TMP/launcher" <<END
#!/bin/sh
n=\$(ls "$TMP"/tries | wc -l)
touch "$TMP/tries/\$n.\$\$"
case \$n in 1 | 2 | 4) echo "stablerun: no luck" >&2; exit 125 ;; esac
exec "$stablerun" "\$@"
END
	chmod +x "$TMP/launcher"
	mkdir "$TMP/tries"
	# One at a time, so that the tries are in order: 0 1 2 3 and again 1 2.
	"$stablerun" perf --engine=slurm --jobs=1 -n 4 --remote="$TMP/launcher" -o again.run -- true \
		>out 2>err || fail "$(cat err)"
	cat err
	want grep -q "node '$node' failed and is tried once more: stablerun: no luck" err
	want grep -q "node '$node' failed again: stablerun: no luck" err
	want grep -q "3 of 4 runs were made: 3 by '$node'" err
	want grep -q "1 of 4 runs were not made: 2" err
	want [ "$(field again.run runs)" = 3 ]
	want [ "$(ls "$TMP/tries" | wc -l)" -eq 6 ]
}
stopped() {
	"$stablerun" perf --engine=slurm --jobs=1 -n 40 -o stopped.run -- sleep 0.3 >out 2>err &
	engine_pid=$!
	for _ in $(seq 1200); do
		[ "$(ls .stopped.run.*/engine/out 2>/dev/null | grep -c '^[0-9]*$')" -lt 2 ] || break
		sleep 0.05
	done
	kill -TERM $engine_pid
	wait $engine_pid || true
	cat err
	want [ "$(field stopped.run runs)" -lt 40 ]
	want grep -q "of 40 runs were not made" err
	for _ in $(seq 100); do
		[ -n "$(squeue -h)" ] || break
		sleep 0.1
	done
	want [ -z "$(squeue -h)" ]
}
refused() {
	expect 125 "$stablerun" perf --engine=slurm -n 5000 -o many.run -- true
	want grep -q "Slurm took no job: sbatch: error: .*" err
	want [ ! -e many.run ]
	expect 125 "$stablerun" perf --engine=slurm --hosts=a -- true
	want grep -q "Slurm chooses its nodes itself" err
}
exec 3>&1
check "same profile" same_profile
check "once more" once_more
check stopped stopped
check refused refused
finish
