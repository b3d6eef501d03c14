# Containers, statements and expressions of every kind.
import collections


def match(value):
    match value:
        case 0 | 1:
            return "small"
        case int(x) if x > 100:
            return "big", x
        case str() as s:
            return "text", s
        case [a, b]:
            return "two", a, b
        case [first, *rest, last]:
            return "many", first, rest, last
        case {"kind": k, **others}:
            return "map", k, sorted(others)
        case Point(x=0, y=y):
            return "axis", y
        case Point(a, b):
            return "point", a, b
        case None | True:
            return "single"
        case _:
            return "other", type(value).__name__


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def matches():
    return [match(v) for v in (0, 1, 5, 500, "s", [1, 2], (1, 2, 3, 4), [1], [], {"kind": 1, "z": 2},
                               {"no": 1}, Point(0, 2), Point(3, 4), None, True, 1.5, b"x", range(2))]


def unpacking():
    a, (b, *c), d = 1, (2, 3, 4), 5
    *e, f = "xyz"
    g, = [7]
    [h, i] = {8: 1, 9: 2}
    out = [a, b, c, d, e, f, g, h, i, [*c, *e, *range(2)], {*c, *c}, {**{"a": 1}, "b": 2, **{"a": 3}},
           (*c, 1), [x for x in (*c, *c)]]
    for x, (y, z) in [(1, (2, 3)), (4, (5, 6))]:
        out.append(x + y + z)
    for bad in ((1, 2), (1, 2, 3, 4), 5, ""):
        try:
            p, q, r = bad
        except (TypeError, ValueError) as error:
            out.append(str(error))
    return out


def comprehensions(n):
    outer = 10
    a = [x * y + outer for x in range(n) for y in range(x) if (x + y) % 2]
    b = {x: [y for y in range(x)] for x in range(n)}
    c = {x % 3 for x in range(n)}
    d = list(map(lambda q: q + outer, (x for x in range(n))))
    e = [[(i, j) for j in range(i)] for i in range(4)]
    f = [z for z in range(n) if (w := z * 2) > 4]
    return a, b, sorted(c), d, e, f, w


def slices():
    x = list(range(10))
    out = [x[2:5], x[::-1], x[-3:], x[:100], x[5:2], x[::3]]
    x[2:4] = "abc"
    x[::5] = [0, 0, 0]
    del x[1], x[-1], x[0:2]
    out.append(x)
    s = "hello"
    out += [s[1], s[-1], s[1:3], s[::-2]]
    t = (1, 2, 3)
    out += [t[0], t[-1], t[1:]]
    d = {}
    for k in "abcab":
        d[k] = d.get(k, 0) + 1
    d["a"] += 5
    del d["b"]
    out.append(d)
    for container, key in ((x, 50), (t, 9), (d, "zz"), (s, 99), (x, "k"), (5, 0), (d, [])):
        try:
            out.append(container[key])
        except (IndexError, KeyError, TypeError) as e:
            out.append(type(e).__name__ + str(e))
        try:
            container[key] = 1
            out.append("stored")
        except (IndexError, KeyError, TypeError) as e:
            out.append(str(e))
    return out


class Custom:
    def __getitem__(self, k):
        if isinstance(k, int) and k > 3:
            raise IndexError
        return k

    def __setitem__(self, k, v):
        self.last = k, v

    def __delitem__(self, k):
        self.last = "del", k

    def __contains__(self, k):
        return k == "in"

    def __len__(self):
        return 0


def customs():
    c = Custom()
    c[1, 2] = 3
    out = [c.last, c[1:2, ::3], list(c), "in" in c, "out" not in c, "t" if c else "f"]
    del c["x"]
    out.append(c.last)
    return out


def formats(x, y):
    return f"{x} {y!r:>10} {x + y:08.3f} {{}} {x:{y}} {'nested ' + f'{x}'} {y=}"


def loops():
    out = []
    for i in range(6):
        for k in range(6):
            if k == i:
                continue
            if k > 3:
                break
            out.append(i * k)
        else:
            out.append("else")
        while True:
            if i:
                break
            i = 1
    n = 10
    while n:
        n -= 3
        if n < 0:
            break
    else:
        out.append("while else")
    x = [1, 2, 3]
    for v in x:
        if len(x) < 6:
            x.append(v)
    out.append(x)
    d = {1: 2}
    try:
        for k in d:
            d[k + 1] = 1
    except RuntimeError as e:
        out.append(str(e))
    return out


def conditions(a, b, c):
    return (a and b or c, not a or (b and not c), a if b else c if a else b, (a or b) and c,
            a is b, a is not None, a in (1, b), a not in [c])


def strings():
    s = ""
    for i in range(50):
        s += chr(97 + i % 26)
        if i % 7 == 0:
            t = s
            s += "|"
    u = s
    u += "x"
    return s, t, u, s is u, "abc" * 3, "%s-%d" % ("a", 5), "a" "b", b"x" + b"y"


def deques():
    d = collections.deque(maxlen=3)
    o = collections.OrderedDict()
    c = collections.Counter()
    dd = collections.defaultdict(list)
    for i in range(10):
        d.append(i)
        o[i % 4] = i
        o.move_to_end(i % 4, last=i % 2)
        c[i % 3] += i
        dd[i % 2].append(i)
    N = collections.namedtuple("N", "a b")
    n = N(1, 2)
    return list(d), list(o.items()), sorted(c.items()), dict(dd), n.a + n.b, n._replace(a=5), n[1]


def asserts(x):
    try:
        assert x, ("message", x)
        assert x > 1
    except AssertionError as e:
        return repr(e)
    return "fine"


for turn in range(3):
    print(matches())
    print(unpacking())
    print(comprehensions(6))
    print(slices())
    print(customs(), formats(3.5, 10))
    print(loops())
    print([conditions(*t) for t in ((1, 2, 3), (0, 1, 2), (None, [], "x"), (1, 0, 1), ([], {}, ()))])
    print(strings(), deques(), asserts(0), asserts(1), asserts(2))
