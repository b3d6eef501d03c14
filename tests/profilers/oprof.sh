#!/bin/bash
# make oprof_NAME: without OProfile it says so, records through perf, finds the 70 and 30 percent,
# and tells what was lost; with it, operf is run around stablerun and the jit tells its agent.
. "$SRC/tests/lib.sh"
. "$SRC/tests/launcher/lib.sh"

want() { "$@" || fail "$*"; }
mkdir build
for name in stablerun annotate jit rules launcher; do
	ln -s "$BUILD/$name" build/$name
done
recipe() { "$SRC/tests/profilers/oprof" build "$@"; }
split=$SRC/tests/profilers/split.py

by_perf() {
	expect 0 env PATH="$PATH_WITHOUT" "$SRC/tests/profilers/oprof" build "$split" "" 2000
	want grep -q "^oprof: OProfile is not installed (Debian 12 has no package of it); recording by perf" err
	want grep -q "^samples lost: none$" out
	want grep -q "jit  *split.seven (split.py:7)" out
	want grep -q ": .* samples (.*), 0 lost$" err
	"$BUILD/annotate" --json build/split.run >json
	/usr/bin/python3 "$SRC/tests/profilers/shares.py" json split.seven split.three || fail "shares"
}

# Stand-ins: operf runs what it is given as the real one does and writes its statistics.
mkdir fake lib
cat >fake/operf <<'END'
#!/bin/sh
[ ! -e fails ] || { echo "operf: no counters" >&2; exit 1; }
for word; do case $word in --session-dir=*) dir=${word#*=} ;; esac; done
shift
mkdir -p "$dir/samples"
printf '%s\n' 'Nr. non-backtrace samples: 1234' 'Nr. kernel samples: 7' \
	'Nr. lost kernel samples: 3' 'Nr. samples lost due to no mm: 2' >"$dir/samples/operf.log"
exec "$@"
END
cat >fake/opreport <<'END'
#!/bin/sh
echo "opreport $*"
END
chmod +x fake/*
${CC:-gcc} -O1 -shared -fPIC -o lib/libopagent.so.1 "$SRC/tests/profilers/standin.c"
by_operf() {
	export AGENT_LOG=$PWD/log LD_LIBRARY_PATH=$PWD/lib
	PATH=$PWD/fake:$PATH expect 0 recipe "$split" "" 20
	want grep -q "^14499006180$" out
	want grep -q "^opreport --session-dir=.*/build/split.oprofile --symbols$" out
	want grep -q "^samples lost: 5$" out
	want [ ! -s err ]
	want grep -q "code .* split.seven (split.py:7)$" log
}
falls_back() {
	: >fails
	PATH=$PWD/fake:$PATH expect 0 recipe "$split" "" 1000
	want grep -q "^oprof: operf failed; recording by perf instead" err
	want grep -q "^samples lost: " out
}

PATH_WITHOUT=$PATH
if command -v operf >/dev/null; then
	mkdir bin
	for directory in /usr/bin /bin; do
		ln -s "$directory"/* bin/ 2>/dev/null || true
	done
	rm bin/operf
	PATH_WITHOUT=$PWD/bin
fi
check "by operf" by_operf
"$BUILD/stablerun" perf -o try -- true 2>tried || true
if [ -e try/perf.data ]; then
	check "by perf" by_perf
	check "falls back" falls_back
else
	echo "SKIP: by perf: $(tail -n 1 tried)"
fi
finish
