#!/bin/sh
# A supervised program behaves beside its shell, its terminal, its pipes and its children as
# one that nobody supervises.
. "$SRC/tests/supervise/lib.sh"

run=$BUILD/stablerun
chmod 777 .
# Where the sources are nobody may not read.
install -m 644 "$SRC/tests/supervise/terminal.py" .

cat >waits <<'EOF'
#!/bin/bash
echo begun
while :; do
	if read -r line; then echo "read $line"; else exec sleep 1000; fi
done
EOF
chmod 755 waits
expected='stopped
continued and reads the terminal
status=130
status=143'
for options in '' '--seed' '--seed -f -o kept'; do
	# shellcheck disable=SC2086
	got=$(as_nobody /usr/bin/python3 ./terminal.py \
		"$run" $options -- ./waits 2>&1) || true
	[ "$got" = "$expected" ] || fail "on a terminal with '$options': $got"
	echo "PASS: Ctrl-Z, fg, reading, Ctrl-C and kill on a terminal with '$options'"
done

# Standard streams that are closed stay closed.
cat >streams <<'EOF'
#!/bin/sh
ls -l /proc/self/fd | sed -n 's/.* \([0-9]* -> \).*/\1/p'
EOF
chmod 755 streams
for closed in '<&-' '2>&-' '<&- 2>&-'; do
	eval "./streams $closed" >plain
	eval "$run --seed -f -o kept -- ./streams $closed" >supervised
	same plain supervised
done
echo "PASS: closed standard streams"

# Nobody holds a pipe open: the reader ends when the program's side is done, while a daemon
# that left the pipe still runs, under the same supervisor.
"$run" --seed -f -o kept -- sh -c \
	'(exec sleep 300) >/dev/null 2>&1 & echo $! >daemon; echo out' | cat >out
[ "$(cat out)" = out ] || fail "the pipe has $(cat out)"
kill -0 "$(cat daemon)" || fail "the daemon has ended"
[ -e kept/run.json ] || fail "no RUN while a daemon runs"
kill "$(cat daemon)"
echo "PASS: pipes end, daemons outlive the program"

# A daemon still gets answers when the program is gone.
build randomness -pthread
rm -f later
"$run" --seed -- sh -c '(sleep 0.5; ./randomness >later.new; mv later.new later) >/dev/null 2>&1 &'
for i in $(seq 600); do [ -e later ] && break || sleep 0.1; done
mv later first
"$run" --seed -- sh -c '(sleep 0.5; ./randomness >later.new; mv later.new later) >/dev/null 2>&1 &'
for i in $(seq 600); do [ -e later ] && break || sleep 0.1; done
same first later
echo "PASS: a daemon's randomness is the same in every run"

# A thousand children.
cat >many <<'EOF'
#!/bin/bash
sum=0
for ((i = 0; i < 1000; i++)); do
	(exit $((i % 7)))
	sum=$((sum + $?))
done
for ((i = 0; i < 30; i++)); do /bin/true || sum=0; done
echo $sum
exit 5
EOF
chmod 755 many
expect 5 ./many
mv out plain
expect 5 as_nobody "$run" --seed -f -o nobodys -- ./many
same plain out
[ ! -s err ] || fail "$(cat err)"
echo "PASS: a thousand children"

# Somebody supervises already: said, and done without.
expect 0 "$run" --seed -- "$run" --seed -- echo inner
[ "$(cat out)" = inner ] || fail "$(cat out)"
grep -q '^stablerun: warning: going on unsupervised: it is supervised already' err ||
	fail "$(cat err)"
expect 0 "$run" --seed -- "$run" -o nested -- echo inner
# Not held at its end, the program is gone before its RUN is whole.
for i in $(seq 600); do [ -e nested/run.json ] && break || sleep 0.1; done
[ -e nested/run.json ] || fail "no RUN of a nested run: $(cat err)"
echo "PASS: a nested supervisor"

# Neither is there a way to start a helper.
if [ "$(id -u)" -eq 0 ]; then
	setpriv --reuid=65533 --regid=65533 --clear-groups prlimit --nproc=0:0 \
		"$run" --seed -- echo alone >out 2>err || fail "$(cat err)"
	[ "$(cat out)" = alone ] || fail "$(cat out)"
	grep -q 'going on unsupervised: no more processes' err || fail "$(cat err)"
	echo "PASS: no process can be made"
fi

# 32-bit programs, if the machine runs them, are not supervised and not harmed.
if printf 'int main(void){return 3;}' | gcc -m32 -x c -static -o small - 2>/dev/null &&
	{ ./small || [ $? -eq 3 ]; }; then
	expect 3 "$run" --seed -f -o kept -- ./small
	echo "PASS: a 32-bit program"
fi

# Execve in a thread, and one that fails.
build execs -pthread
expect 6 ./execs
mv out plain
for i in 1 2 3; do
	expect 6 as_nobody "$run" --seed -f -o nobodys -- ./execs
	mv out "run$i"
done
same run1 run2
same run1 run3
[ "$(wc -l <run1)" -eq "$(wc -l <plain)" ] || fail "$(cat run1)"
grep -q '"status": 6' nobodys/run.json || fail "$(grep -A3 '"exit"' nobodys/run.json)"
echo "PASS: execve from a thread, and failing ones"
