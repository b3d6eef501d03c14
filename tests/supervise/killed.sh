#!/bin/sh
# The supervisor, the watchdog and the program killed with -9 at random moments: the program
# comes through whoever else dies, and nobody is left behind. ROUNDS a case (200 with
# ROUNDS=200).
. "$SRC/tests/supervise/lib.sh"

rounds=${ROUNDS:-8}
build killer
build threads -pthread
build forks
run="$BUILD/stablerun"

attempt() {
	name=$1 whom=$2
	shift 2
	if as_nobody ./killer "$whom" "$rounds" "$@" >out 2>err; then
		echo "PASS: $name, the $whom killed: $(cat out)"
	else
		cat err
		echo "FAIL: $name, the $whom killed: $(cat out)"
	fi
}

chmod 777 .
for whom in supervisor watchdog program; do
	attempt 'threads with seed and code' $whom "$run" --seed -f -o kept -- ./threads
	attempt 'forks with seed and code' $whom "$run" --seed -f -o kept -- ./forks
	attempt 'threads with seed' $whom "$run" --seed -- ./threads
done
if command -v node >/dev/null; then
	cat >script.js <<'EOF'
let t = 0;
function f(a) { let s = 0; for (let i = 0; i < 1e4; i++) s = (s + a * i) % 1000003; return s; }
for (let i = 0; i < 100; i++) t += f(i);
require('crypto').randomBytes(8);
console.log(t);
EOF
	chmod 644 script.js
	for whom in supervisor program; do
		attempt node $whom "$run" --seed -f -o kept -- "$(command -v node)" script.js
	done
else
	echo "SKIP: node: not installed (package nodejs)"
fi
