#!/bin/sh
# code.elf has the bytes that gdb reads from the stopped program, for real runtimes: the
# script stops itself at its end, gdb reads its code, and the run that is kept goes on to
# free it.
. "$SRC/tests/supervise/lib.sh"

need gdb gdb
run=$BUILD/stablerun
chmod 777 .
# Where the sources are nobody may not read.
install -m 644 "$SRC/tests/supervise/equal_dump.py" .

# compare NAME COMMAND ARG...
compare() {
	name=$1
	shift
	rm -rf dump kept out
	if ! as_nobody gdb -q -nx -batch -ex "set exec-wrapper $run --seed -f -o kept --" \
		-x equal_dump.py --args "$@" >gdb.out 2>&1 </dev/null ||
		[ ! -s dump ] || [ ! -e kept/code.elf ]; then
		cat gdb.out
		echo "FAIL: $name: no code was read"
	elif /usr/bin/python3 "$SRC/tests/supervise/equal_compare.py" dump kept/code.elf \
		>compared; then
		echo "PASS: $name: $(tail -n 1 compared)"
	else
		cat compared
		echo "FAIL: $name"
	fi
}

if command -v node >/dev/null; then
	cat >script.js <<'EOF'
function f(a) { let s = 0; for (let i = 0; i < 1e5; i++) s = (s + a * i) % 1000003; return s; }
function g(o) { let s = ''; for (let i = 0; i < 1e4; i++) s += o.a + i; return s.length; }
let t = 0;
for (let i = 0; i < 50; i++) t += f(i) + g({a: i});
console.log(t);
process.kill(process.pid, 'SIGUSR2');
EOF
	compare node "$(command -v node)" --single-threaded script.js
else
	echo "SKIP: node: not installed (package nodejs)"
fi
if command -v luajit >/dev/null; then
	cat >script.lua <<'EOF'
local function f(n) local s = 0 for i = 1, n do s = (s + i * 7) % 1000003 end return s end
local function g(n) local t = {} for i = 1, n do t[i] = tostring(i) end return #table.concat(t) end
print(f(1e6), g(1e4))
local ffi = require('ffi')
ffi.cdef('int raise(int);')
ffi.C.raise(12)
EOF
	compare luajit "$(command -v luajit)" script.lua
else
	echo "SKIP: luajit: not installed (package luajit)"
fi
php=$(command -v php8.2 || true)
if [ -n "$php" ] && $php -d opcache.enable_cli=1 -m 2>/dev/null | grep -q 'Zend OPcache'; then
	cat >script.php <<'EOF'
<?php
function f($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s = ($s + $i * 7) % 1000003; return $s; }
function g($n) { $t = []; for ($i = 0; $i < $n; $i++) $t[] = "x$i"; return strlen(implode($t)); }
$t = 0;
for ($i = 0; $i < 50; $i++) $t += f(10000) + g(1000);
echo $t, "\n";
posix_kill(getmypid(), 12);
EOF
	compare php "$php" -d opcache.enable_cli=1 -d opcache.jit_buffer_size=16M \
		-d opcache.jit=tracing script.php
else
	echo "SKIP: php: not installed with its JIT (packages php8.2-cli, php8.2-opcache)"
fi
cp "$PROGRAMS/jit" jit 2>/dev/null || true
if [ -x jit ]; then
	cat >script.py <<'EOF'
import os
import sys


def f(n):
    s = 0
    for i in range(n):
        s = (s + i * 7) % 1000003
    return s


def g(n):
    return len("".join([str(i) for i in range(n)]))


print(sum(f(1000) + g(100) for _ in range(300)))
sys.stdout.flush()
os.kill(os.getpid(), 12)
os._exit(0)  # finishing Python compiles and patches more
EOF
	compare jit ./jit script.py
else
	echo "SKIP: jit: not built"
fi
