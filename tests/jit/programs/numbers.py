# Numbers: the edges of small, 64-bit and big integers, of floats, and their mixtures.
import math
import operator

EDGES = [0, 1, -1, 2, -2, 255, 256, 257, -5, -6, 2**15, 2**29, 2**30 - 1, 2**30, 2**30 + 1, -2**30,
         2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32, 2**53, 2**53 + 1, 2**60 - 1, 2**60, 2**62,
         2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64, 10**30, True, False, 0.0, -0.0, 0.5, -1.5,
         1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 1e16, 3.0, "s", None]


def add(a, b): return a + b
def sub(a, b): return a - b
def mul(a, b): return a * b
def div(a, b): return a / b
def floordiv(a, b): return a // b
def mod(a, b): return a % b
def lshift(a, b): return a << b
def rshift(a, b): return a >> b
def band(a, b): return a & b
def bor(a, b): return a | b
def xor(a, b): return a ^ b
def lt(a, b): return a < b
def le(a, b): return a <= b
def eq(a, b): return a == b
def ne(a, b): return a != b
def gt(a, b): return a > b
def ge(a, b): return a >= b


def pair(f, a, b):
    try:
        r = f(a, b)
    except Exception as e:
        return type(e).__name__ + ": " + str(e)
    return repr(r) + type(r).__name__


def table(f):
    total = 0
    shown = []
    for i, a in enumerate(EDGES):
        for k, b in enumerate(EDGES):
            if f is lshift and isinstance(b, int) and b > 1000:
                continue
            if f is mul and (a == "s" and isinstance(b, int) and b > 1000 or
                             b == "s" and isinstance(a, int) and a > 1000):
                continue
            text = pair(f, a, b)
            total = (total * 31 + sum(map(ord, text))) % 1000000007
            if (i * 7 + k) % 97 == 0:
                shown.append(text)
    return total, shown


def unary(a):
    out = []
    for f in (lambda x: -x, lambda x: +x, lambda x: ~x, lambda x: not x, abs, int, float, round):
        try:
            out.append(repr(f(a)))
        except Exception as e:
            out.append(str(e))
    return out


def overflow_loops():
    a = 1
    out = []
    for i in range(80):
        a = a * 2 + 1
        if i % 10 == 9:
            out.append(a)
    b = 2**62
    for i in range(5):
        b += 2**62
        out.append(b)
    for i in range(5):
        b -= 2**63
        out.append(b)
    c = 1
    for i in range(1, 30):
        c *= -i
    out.append(c)
    return out


def range_edges():
    out = []
    for r in (range(2**63 - 2, 2**63 + 2), range(-2**63 - 1, -2**63 + 2), range(5, 0, -2),
              range(0), range(10, 5), range(2**31 - 2, 2**31 + 2), range(-3, 3),
              range(True, 4)):
        total = 0
        for i in r:
            total += i
            out.append(i)
        out.append(total)
    i = "untouched"
    for i in range(0):
        pass
    out.append(i)
    return out


def float_loops():
    x, y = 0.0, 1.0
    for i in range(1000):
        x += 0.1
        y = y * 1.01 - x / 1000
    z = 0.0
    try:
        for i in range(10, -1, -1):
            z += 1.0 / i
    except ZeroDivisionError as e:
        z = (z, str(e), i)
    return x, y, z


def mixing():
    out = []
    total = 0
    for v in [1, 2.5, True, 2**70, -1.5, 3]:
        total = total + v
        out.append((total, type(total).__name__))
    for v in (1, 1.0, "1", [1], (1,)):
        try:
            out.append(v * 3 + v)
        except TypeError as e:
            out.append(str(e))
    return out


class Int(int):
    def __add__(self, other):
        return "Int add"

    def __radd__(self, other):
        return "Int radd"

    def __lt__(self, other):
        return "Int lt"

    def __bool__(self):
        return False


class Float(float):
    def __mul__(self, other):
        return "Float mul"


def subclasses():
    out = []
    for a in (1, Int(2), 1.5, Float(2.5)):
        for b in (1, Int(2), 1.5, Float(2.5)):
            out.append((a + b, a * b, a < b, bool(a)))
    if Int(7):
        out.append("true?")
    return out


def chained(a, b, c):
    return a < b < c, a == b != c, not a < b <= c, a if a < b > c else b


def truth(values):
    out = ""
    for v in values:
        if v:
            out += "T"
        else:
            out += "F"
        out += "1" if not v else "0"
        out += str(v and 1) + str(v or 2)
    return out


def powers():
    out = []
    for a in (2, -2, 0, 10, 0.5, -1.5, 2**40):
        for b in (0, 1, 2, -1, 10, 0.5, 3):
            try:
                out.append(a ** b)
            except ZeroDivisionError as e:
                out.append(str(e))
    return out


for f in (add, sub, mul, div, floordiv, mod, lshift, rshift, band, bor, xor, lt, le, eq, ne, gt, ge):
    print(f.__name__, *table(f))
for turn in range(3):
    print([unary(e) for e in EDGES])
    print(overflow_loops(), range_edges(), float_loops())
    print(mixing(), subclasses())
    print([chained(*t) for t in ((1, 2, 3), (1, 1, 2), (3, 2, 1), (1.0, 2, 2.5), ("a", "b", "c"))])
    print(truth([0, 1, 0.0, "", "x", [], [0], None, (), {}, 2**70, math.nan, -0.0]))
    print(powers())
