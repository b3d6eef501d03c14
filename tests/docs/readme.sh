#!/bin/sh
# Every command in the README runs, in a checkout of its own, and prints what is said there.
. "$SRC/tests/lib.sh"
need perf linux-perf
need gdb gdb

# As in a checkout that has just been built: what the commands write stays out of the real one.
for name in "$SRC"/*; do
	case ${name##*/} in
	build* | *.run | *.run.old) ;;
	*) ln -s "$name" . ;;
	esac
done
mkdir -p build/launcher
for name in stablerun annotate jit gdb rules launcher/main.o; do
	cp -r "$BUILD/$name" build/$name
done
# make is given this build, which is up to date.
unset MAKEFLAGS MAKELEVEL MFLAGS
export O="$BUILD"
exec /usr/bin/python3 "$SRC/tests/docs/transcript.py" "$SRC/README.md"
