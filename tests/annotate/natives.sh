#!/bin/sh
# Native code is named whatever became of its file: stripped with a debug link, with
# .gnu_debugdata, by unwind table only, deleted, replaced, moved under --symfs; PIE, static.
. "$SRC/tests/lib.sh"
. "$SRC/tests/annotate/lib.sh"
can_sample
need objcopy binutils
build shapes
HOME=$TMP/home # perf's own cache of files would hide what is tested
export HOME
mkdir "$HOME"

named() { # named CASE ARGUMENT...: `divide` has at least 40% of the samples
	what=$1
	shift
	"$annotate" --json "$@" >report.json 2>report.err || true
	if /usr/bin/python3 -c '
import json, sys
report = json.load(open("report.json"))
n = sum(f["samples"] for f in report["functions"] if f["name"] == sys.argv[1])
sys.exit(n < 0.3 * report["samples"])' "${NAME:-divide}"; then
		echo "PASS: $what"
	else
		echo "FAIL: $what: $(head -c 600 report.json) $(cat report.err)"
	fi
}
sampled() { # sampled FILE PROGRAM: records without perf's cache
	record "$1" -N -e cpu-clock:u -- "$2" plain 60
}

sampled pie.data ./shapes
named PIE pie.data

${CC:-gcc} -O2 -g -std=gnu11 -D_GNU_SOURCE -pthread -static -o static "$here/shapes.c"
sampled static.data ./static
named static static.data

cp shapes linked
objcopy --only-keep-debug linked linked.debug
strip linked
objcopy --add-gnu-debuglink=linked.debug linked
sampled linked.data ./linked
named "debug link" linked.data
mkdir .debug
mv linked.debug .debug/
named "debug link in .debug" linked.data

if command -v xz >/dev/null; then
	cp shapes mini
	objcopy --only-keep-debug --strip-debug mini mini.symbols
	xz -k mini.symbols
	strip mini
	objcopy --add-section .gnu_debugdata=mini.symbols.xz mini
	sampled mini.data ./mini
	named .gnu_debugdata mini.data
fi

cp shapes bare
strip bare
sampled bare.data ./bare
address=$(nm shapes | awk '$3 == "divide" { sub(/^0+/, "", $1); print $1 }')
NAME="bare+0x$address" named "unwind table only" bare.data

mkdir -p root/"$TMP"
cp shapes gone
sampled gone.data ./gone
mv gone root/"$TMP/gone"
named "under --symfs" --symfs=root gone.data
"$annotate" --json gone.data >report.json 2>&1
grep -q 'native code whose file is missing or was replaced' report.json &&
	echo "PASS: deleted" || echo "FAIL: deleted: $(cat report.json)"

cp shapes replaced
sampled replaced.data ./replaced
sed 's/noinline/noinline, used/' "$here/shapes.c" >other.c
${CC:-gcc} -O1 -g -std=gnu11 -D_GNU_SOURCE -pthread -o replaced other.c
"$annotate" --json replaced.data >report.json 2>&1
/usr/bin/python3 -c '
import json, sys
report = json.load(open("report.json"))
names = {f["name"] for f in report["functions"]}
sys.exit("divide" in names or not any("replaced" in r for r in report["unresolved"]))' &&
	echo "PASS: replaced" || echo "FAIL: replaced: $(head -c 600 report.json)"

cp shapes deleted
cat >run.sh <<'SCRIPT'
./deleted plain 60 &
sleep 0.01
rm deleted
wait
SCRIPT
sampled deleted.data ./shapes # warm
record deleted.data -N -e cpu-clock:u -- sh run.sh
"$annotate" --json deleted.data >report.json 2>report.err &&
	echo "PASS: deleted while running" || echo "FAIL: deleted while running: $(cat report.err)"
