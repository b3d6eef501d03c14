# Calls of every kind, and functions changed between and during calls.
import functools
import sys


def plain(a, b, c=3, *rest, d, e=5, **more):
    return a, b, c, rest, d, e, sorted(more.items())


def positional(a, b, /, c):
    return a, b, c


def keyword(*, x, y=2):
    return x, y


def attempt(f, *a, **k):
    try:
        return f(*a, **k)
    except (TypeError, RecursionError, ValueError, AttributeError) as e:
        return type(e).__name__, str(e)


def shapes():
    out = [plain(1, 2, d=4), plain(1, 2, 3, 4, 5, d=6, z=7), plain(*(1, 2), **{"d": 3}),
           plain(b=1, a=2, d=3), positional(1, 2, c=3), keyword(x=1), keyword(y=1, x=3)]
    out.append(attempt(plain))
    out.append(attempt(plain, 1, 2))
    out.append(attempt(plain, 1, 2, a=3, d=4))
    out.append(attempt(positional, 1, b=2, c=3))
    out.append(attempt(positional, 1, 2, 3, 4))
    out.append(attempt(keyword, 1))
    out.append(attempt(keyword))
    out.append(attempt(keyword, x=1, z=2))
    out.append(attempt(5))
    out.append(attempt(lambda: 1, 2))
    out.append(attempt(print, sep=5))
    return out


def attempt_inline():
    out = []
    for make in (lambda: plain(*5), lambda: plain(**{1: 2}), lambda: plain(1, 2, d=1, **{"d": 2}),
                 lambda: positional(1, 2, 3, c=3), lambda: [].append(), lambda: len(),
                 lambda: int("x"), lambda: None()):
        try:
            out.append(make())
        except (TypeError, ValueError) as e:
            out.append(str(e))
    return out


class Base:
    count = 0

    def __new__(cls, *a, **k):
        self = super().__new__(cls)
        cls.count += 1
        return self

    def __init__(self, x, y=2):
        self.x, self.y = x, y

    def method(self, z=3):
        return self.x, self.y, z

    @classmethod
    def made(cls, x):
        return cls(x).method()

    @staticmethod
    def still(x):
        return x * 2

    @property
    def prop(self):
        return self.x + 1

    def __call__(self, *a):
        return a, self.x

    def __getattr__(self, name):
        if name.startswith("no"):
            raise AttributeError(name)
        return lambda *a: (name, a)


class Derived(Base):
    def __init__(self, x):
        super().__init__(x, y=x)

    def method(self, *z):
        return super().method(*z), len(z)


class BadInit:
    def __init__(self):
        return 5


def objects():
    b, d = Base(1), Derived(2)
    bound = d.method
    return (b.method(), b.method(z=4), d.method(5), bound(), Base.method(b, 9), Derived.made(3),
            b.still(4), Base.still(5), d.prop, b(1, 2), b.dynamic(7), attempt(lambda: b.nope),
            attempt(BadInit), attempt(Base), attempt(Derived, 1, 2), Base.count > 0)


def depth(n):
    # Comparing may count as a call, depending on what the interpreter has specialised.
    return 1 + depth(n - 1) if n else 0


def endless(n):
    return endless(n + 1)


def limits():
    old = sys.getrecursionlimit()
    out = []
    for limit in (60, 150, 500):
        sys.setrecursionlimit(limit)
        low, high = 0, limit
        while low < high:
            middle = (low + high + 1) // 2
            try:
                depth(middle)
                low = middle
            except RecursionError:
                high = middle - 1
        out.append(low)
        out.append(attempt(endless, 0))
    sys.setrecursionlimit(old)
    return out


def first(x):
    return "first", x


def second(x):
    return "second", x


def changing():
    out = []
    first_code = first.__code__
    for i in range(6):
        if i == 2:
            first.__code__ = second.__code__
        if i == 4:
            first.__defaults__ = ("default",)
        try:
            out.append(first() if i >= 4 else first(i))
        except TypeError as e:
            out.append(str(e))
    first.__code__ = first_code
    first.__defaults__ = None
    return out


def methods_changing():
    class A:
        def f(self):
            return "A.f"

    class B:
        def f(self):
            return "B.f"

    a, out = A(), []
    for i in range(8):
        out.append(a.f())
        if i == 1:
            A.f = lambda self: "patched"
        if i == 3:
            a.__class__ = B
        if i == 5:
            a.f = lambda: "instance"
        if i == 6:
            del a.f
    return out


def swap_during():
    def victim(n):
        if n == 0:
            victim.__code__ = other.__code__
            return "inner"
        return victim(n - 1), victim(0)

    def other(n):
        return "other", n

    def free():
        return victim, other

    try:
        return victim(2)
    except ValueError as e:
        return str(e)


@functools.lru_cache(maxsize=None)
def cached(n):
    return n if n < 2 else cached(n - 1) + cached(n - 2)


def curried():
    add = functools.partial(plain, 1, d=2)
    return add(5), add(6, 7, e=8), functools.reduce(lambda x, y: x * y, range(1, 20)), \
        sorted([3, 1, 2], key=lambda x: -x), list(map(lambda x, y: x + y, [1, 2], [3, 4])), \
        max(3, 5, key=lambda x: -x)


def closures():
    functions = []
    for i in range(3):
        def f(j=i):
            nonlocal_count[0] += 1
            return i, j
        nonlocal_count = [0]
        functions.append(f)

    def counter():
        n = 0

        def up(by=1):
            nonlocal n
            n += by
            return n
        return up
    c = counter()
    return [f() for f in functions], c(), c(5), c(), counter()()


for turn in range(3):
    print(*shapes(), sep="\n")
    print(*attempt_inline(), sep="\n")
    print(objects())
    print(limits())
    print(changing())
    print(methods_changing())
    print(swap_during())
    print(cached(60), curried(), closures())
