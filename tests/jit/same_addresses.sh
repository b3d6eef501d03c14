#!/bin/bash
# Every run of the jit under stablerun has its code at the same addresses, whoever starts it:
# shells, an empty, big or long environment, perf, gdb, another user: the perf maps are equal
# line by line, with the pinned environment and with the clean one. Where the environment has
# the same content too (--env=clean, one user's), so has the heap, and the bytes of the code at
# exit with its pointers are equal as well. (gdb starts a program by its absolute path, so all
# do; and stdout is a pipe, as Python makes objects from a file's position, which what gdb has
# said there moves.)
. "$SRC/tests/lib.sh"
! is_sanitized "$BUILD/jit" || skip "AddressSanitizer puts its heap where it likes"
need gdb gdb
need perf linux-perf

# Everything must be reachable for nobody.
cp "$BUILD/stablerun" "$BUILD/jit" "$SRC/tests/bench/nbody.py" "$SRC/tests/bench/shapes.py" .
cp -r "$SRC/etc/rules" rules
stablerun=$TMP/stablerun
mkdir -m 777 dump
big=$(head -c 20000 /dev/zero | tr '\0' x)

with_variables() {
	for ((i = 0; i < 101; i++)); do export "VARIABLE_$i=$i"; done
	exec "$@"
}

in_gdb() {
	gdb -q -nx -batch -iex 'set debuginfod enabled off' \
		-ex "set exec-wrapper $stablerun $mode --" -ex run --args "$@"
}

context() {
	name=$1
	shift
	case $name in
	bash) bash -c '"$@"; exit' bash "$stablerun" $mode -- "$@" ;;
	dash) dash -c '"$@"; exit' dash "$stablerun" $mode -- "$@" ;;
	env-i) env -i ${HOME+HOME="$HOME"} ${LANG+LANG="$LANG"} "$stablerun" $mode -- "$@" ;;
	20000-bytes) BIG=$big "$stablerun" $mode -- "$@" ;;
	101-variables) (with_variables "$stablerun" $mode -- "$@") ;;
	perf) perf record -q -e cpu-clock:u -k mono -o dump/perf.data -- "$stablerun" $mode -- "$@" ;;
	gdb) in_gdb "$@" ;;
	nobody) as_nobody "$stablerun" $mode -- "$@" ;;
	esac
}

# collect NAME: this run's perf map becomes NAME.map, its final code NAME.elf.
collect() {
	dump=$(echo dump/jit-*.dump)
	[ -s "$dump" ] || return 1
	pid=${dump#dump/jit-} pid=${pid%.dump}
	cp "/tmp/perf-$pid.map" "$1.map" && cp "dump/jit-$pid.elf" "$1.elf"
	status=$?
	rm -rf "/tmp/perf-$pid.map" dump/*
	return $status
}

text_of() {
	objcopy -O binary --only-section='.text*' "$1" "$1.bin" && md5sum <"$1.bin"
}

# same NAME: whether the context's run has the addresses, and in mode --env=clean the bytes,
# of the first one's.
same() {
	diff "$reference.map" "$1.map" || return 1
	[ "$mode" != --env=clean ] || [ "$1" = nobody ] ||
		[ "$(text_of $reference.elf)" = "$(text_of "$1.elf")" ] || {
		cmp -l "$reference.bin" "$1.bin" | wc -l
		return 1
	}
}

has_functions() {
	[ "$(grep -c -e advance -e turn "$1.map")" -ge 1 ] && [ "$(wc -l <"$1.map")" -ge 5 ] &&
		[ "$(readelf -s "$1.elf" | grep -c FUNC)" -ge 5 ]
}

for mode in --env=pinned --env=clean; do
	[ $mode = --env=pinned ] && program="nbody.py 2000" || program="shapes.py 400"
	reference=
	for name in bash dash env-i 20000-bytes 101-variables perf gdb nobody; do
		# shellcheck disable=SC2086 # a program and its argument
		context $name "$TMP/jit" -p --threshold=2 --dump-dir=dump $program 2>&1 </dev/null | cat >log
		verdict=FAIL
		if ! collect "$name"; then
			cat log
		elif [ -z "$reference" ]; then
			reference=$name
			has_functions $name && verdict=PASS
		else
			same $name && verdict=PASS
		fi
		echo "$verdict: $mode $program $name"
	done
done

# The test can see a difference: one more function compiled in front moves what follows.
mode=--env=pinned
sed 's/^def energy/def first(n):\n    return n + 1\n\n\nfirst(1), first(2), first(3)\n\n\ndef energy/' \
	nbody.py >moved.py
context bash "$TMP/jit" -p --threshold=2 --dump-dir=dump moved.py 2000 >log 2>&1
collect moved
context bash "$TMP/jit" -p --threshold=2 --dump-dir=dump nbody.py 2000 >log 2>&1
collect plain
address_of() { awk '/advance/ { print $1; exit }' "$1.map"; }
if [ -n "$(address_of plain)" ] && [ "$(address_of plain)" != "$(address_of moved)" ]; then
	echo "PASS: a change is seen"
else
	echo "FAIL: a change is seen: advance at '$(address_of plain)' and '$(address_of moved)'"
fi
