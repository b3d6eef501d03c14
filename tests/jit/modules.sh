#!/bin/sh
# The standard library's programs, run with -m, print under the jit what they print under
# python3: debugger, profilers, tracers, test runners, and how programs are handed to Python.
. "$SRC/tests/lib.sh"

cat >prog.py <<'END'
class Stack:
    """A stack.

    >>> s = Stack(); s.push(1); s.push(2); s.pop()
    2
    >>> [x * 2 for x in range(3)]
    [0, 2, 4]
    >>> Stack().pop()
    Traceback (most recent call last):
    ...
    IndexError: pop from empty list
    """

    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def pop(self):
        return self.items.pop()


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def gen(n):
    for i in range(n):
        yield i * i


def main():
    s = Stack()
    for i in gen(20):
        s.push(i)
        if i % 3 == 0:
            s.pop()
    total = 0
    for x in s.items:
        total += x
    try:
        s.missing
    except AttributeError as e:
        print(e)
    with open("/dev/null") as f:
        f.read()
    print(total, fib(10), sorted([3, 1, 2], key=lambda v: -v), sum(x for x in range(10)))


if __name__ == "__main__":
    main()
END
cat >tests.py <<'END'
import unittest


class Plain(unittest.TestCase):
    def test_passes(self):
        self.assertEqual(1, 1)

    def test_fails(self):
        self.assertEqual([1, 2], [1, 3], "message")

    def test_parts(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertLess(i, 2)

    def test_raises(self):
        with self.assertRaises(ZeroDivisionError):
            1 / 0

    @unittest.skip("why")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    def test_error(self):
        raise KeyError("x")


class Async(unittest.IsolatedAsyncioTestCase):
    async def test_sleep(self):
        import asyncio
        await asyncio.sleep(0)


if __name__ == "__main__":
    unittest.main()
END
cat >pdb.commands <<'END'
break prog.py:20
continue
where
next
step
args
p x
up
locals()
continue
clear 1
return
until
tbreak fib
continue
where
q
END
echo '{"b": [1, 2, {"c": null}], "a": 1.5e3}' >x.json
echo 'print(input())' >input.py

# Times, addresses and the name of the program itself.
normal() {
	sed -E 's/[0-9]+\.[0-9]{3,}/T/g; s/0x[0-9a-f]{6,}/ADDRESS/g; s/in [0-9.]+s/in T/
		s/[0-9.]+ (n|u|m)?sec/T sec/g; s/[0-9.]+ seconds/T seconds/; /results are likely unreliable/d'
}

run() {
	printf "\n### %s\n" "$*"
	"$@" 2>&1 | normal
}

# everything COMMAND ARG...: runs all of it under that Python.
everything() {
	run "$@" -m json.tool x.json
	run "$@" -m unittest -v tests
	run "$@" tests.py
	run "$@" -m doctest -v prog.py
	run "$@" -m cProfile -s name prog.py
	run "$@" -m profile -s name prog.py
	run "$@" -m pdb prog.py <pdb.commands
	run "$@" -m trace --count --summary -C covered prog.py
	run cat covered/prog.cover
	rm -rf covered
	run "$@" -m trace --trace prog.py
	run "$@" -m trace --listfuncs --trackcalls prog.py
	run "$@" -m dis prog.py
	run "$@" -m ast tests.py
	run "$@" -m tokenize prog.py
	run "$@" -m tabnanny -v prog.py
	run "$@" -m compileall -f -q prog.py
	run "$@" -m timeit -n 10 -r 2 "sum(range(100))"
	run "$@" -m calendar 2024
	run "$@" -m inspect collections:OrderedDict
	run "$@" -m pyclbr prog.py
	run "$@" -m symtable prog.py
	run "$@" -m zipfile -c z.zip prog.py
	run "$@" -m zipfile -l z.zip
	run "$@" -m base64 -e prog.py
	run "$@" -m difflib prog.py tests.py
	run "$@" -m pydoc json.dumps
	run "$@" -X dev -c "import asyncio; asyncio.run(asyncio.sleep(0)); print(1)"
	run "$@" -X tracemalloc=5 -c "import tracemalloc as t; x = [[i] for i in range(100)]
print([s.traceback.format() for s in t.take_snapshot().statistics('traceback') if s.count == 100])"
	run "$@" -W error -c "import warnings; warnings.warn('x')"
	run "$@" -O -c "assert 0; print(__debug__)"
	run "$@" -c "raise SystemExit('text')"
	run "$@" -c "def f(): g()
def g(): 1 / 0
f()"
	run "$@" -X faulthandler -c "import faulthandler
def f(n):
    if n: f(n - 1)
    else: faulthandler.dump_traceback(all_threads=False)
f(3)"
	echo hello | run "$@" input.py
	echo 'print("from stdin"); 1 / 0' | run "$@" - a b
}

# what a run prints, without the command itself
lines() {
	everything "$@" 2>&1 | sed "s|^### .*$BUILD/jit|### PYTHON|; s|^### /usr/bin/python3|### PYTHON|
		s|PYTHON\( --[a-z0-9]*=[a-z0-9]*\)*|PYTHON|"
}

lines /usr/bin/python3 >want
[ "$(wc -l <want)" -gt 2000 ] || fail "python3 itself prints little: $(head want)"
for options in '' '--threshold=1 --tier2=2' '--threshold=1 --tier2=2 --stress=deopt'; do
	# shellcheck disable=SC2086 # a list of words
	lines "$BUILD/jit" $options >got
	if diff want got >difference; then
		echo "PASS: $options"
	else
		echo "FAIL: $options"
		head -n 20 difference
	fi
done
