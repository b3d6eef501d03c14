#!/bin/sh
# What gdb keeps and reads: a saved session, a core file, a gdb without Python, bad runs.
. "$SRC/tests/lib.sh"
need gdb gdb
gcc -O1 -g -fno-omit-frame-pointer -o minijit "$SRC/tests/gdb/minijit.c"
PROFILE=1 "$BUILD/stablerun" -o a.run -- ./minijit wx
says() {
	grep -qF -- "$2" "$1" || { cat "$1" >&2; fail "'$1' does not say '$2'"; }
}

# A session saved midway is a run with the same code at the same place.
timeout 100 "$BUILD/stablerun" gdb a.run -batch -ex 'stablerun break sum_loop+9' -ex run \
	-ex 'stablerun save saved.run' -ex 'gcore a.core' >save.out 2>&1
says save.out "kept in 'saved.run'"
objdump -d a.run/code.elf | grep '^ ' >a.code
objdump -d saved.run/code.elf | grep '^ ' >saved.code
grep -q 'dec    %rdi' a.code || fail "no code in a.run/code.elf"
same a.code saved.code

# A core file of the program has the run's names.
timeout 100 "$BUILD/stablerun" gdb --core=a.core a.run -batch -ex bt -ex 'stablerun info' \
	>core.out 2>&1
says core.out 'in sum_loop ()'
says core.out ' in call_code '
says core.out ' in main '
says core.out "memory: equals the run's bytes (16)"

# Without Python gdb still gets the addresses.
cat >nopython <<'END'
#!/bin/sh
case $1 in
--configuration) echo '--without-python' ;;
*) printf '%s\n' "$@" ;;
esac
END
chmod +x nopython
"$BUILD/stablerun" gdb --gdb=./nopython a.run >nopython.out 2>nopython.err
says nopython.err 'this gdb has no Python'
says nopython.out 'set exec-wrapper'
! grep -q load.py nopython.out || fail "the extension is loaded without Python"

# Other code at the run's addresses is named, a missing code.elf is said.
cp -r a.run other.run
"$BUILD/stablerun" -o b.run -- ./minijit rwx
sed 's/"wx"/"rwx"/' a.run/run.json >other.run/run.json
rm other.run/code.elf
timeout 100 "$BUILD/stablerun" gdb other.run -batch -ex start >other.out 2>&1
says other.out 'the run has no code.elf'

# A program that is another build than the run's.
cp -r a.run build.run
id=$(readelf -n minijit | sed -n 's/.*Build ID: //p')
sed "s/$id/00112233445566778899aabbccddeeff00112233/" a.run/run.json >build.run/run.json
timeout 100 "$BUILD/stablerun" gdb build.run -batch -ex start >build.out 2>&1
says build.out 'is another build'
says build.out 'at the first stop: not as in the run'

# Another library in the way is named at the first stop.
echo 'int unused;' | gcc -shared -fPIC -x c -o extra.so -
timeout 100 "$BUILD/stablerun" gdb a.run -batch \
	-ex "set exec-wrapper env LD_PRELOAD=$PWD/extra.so" -ex start >extra.out 2>&1
says extra.out "extra.so' is mapped here and was not in the run"

expect 125 "$BUILD/stablerun" gdb nowhere.run
says err "cannot open 'nowhere.run'"
mkdir empty.run
expect 125 "$BUILD/stablerun" gdb empty.run
says err 'run.json'
expect 127 "$BUILD/stablerun" gdb --gdb=/nonexistent/gdb a.run
says err "cannot run '/nonexistent/gdb'"

# Stack, argv, envp, heap, mmap, libc, vdso and a thread's stack are where the run had them.
gcc -O1 -pthread -o probe "$SRC/tests/launcher/probe.c"
"$BUILD/stablerun" -o probe.run -- ./probe >probe.plain
timeout 100 "$BUILD/stablerun" gdb probe.run -batch -ex 'run >probe.gdb' >probe.out 2>&1
[ -s probe.plain ] || fail "the probe prints nothing"
same probe.plain probe.gdb
