# What the stubs of inline caches must notice: each place is made hot first, then surprised.
import sys


def hot(function, *arguments):
    for _ in range(200):
        result = function(*arguments)
    return result


def attempt(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        line = error.__traceback__
        lines = []
        while line:
            lines.append(line.tb_lineno - line.tb_frame.f_code.co_firstlineno)
            line = line.tb_next
        return type(error).__name__, str(error), lines


class Point:
    def __init__(self, x, y=2, *, scale=1):
        self.x = x * scale
        self.y = y * scale

    def __add__(self, other):
        if not isinstance(other, Point):
            return NotImplemented
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Point(self.x * factor, self.y * factor)

    def __repr__(self):
        return f"Point({self.x}, {self.y})"

    def __del__(self):
        dropped.append(getattr(self, "x", None))


dropped = []


def construct(x, y):
    return Point(x), Point(x, y), Point(x, scale=y), Point(y=x, x=y)


def test_construct():
    print(hot(construct, 3, 4), len(dropped))
    print(attempt(construct, "a", None))
    init = Point.__init__
    Point.__init__ = lambda self, x, y=5, scale=3: (setattr(self, "x", x), setattr(self, "y", y))[2:]
    print(attempt(construct, 3, 4))
    Point.__init__ = init
    print(hot(construct, 1, 2))
    defaults = init.__defaults__
    init.__defaults__ = (9,)
    print(construct(1, 2))
    init.__defaults__ = (7, 8)
    print(attempt(construct, 1, 2), attempt(Point))
    init.__defaults__ = defaults
    code = init.__code__
    init.__code__ = (lambda self, x, y=0, *, scale=0: None).__code__
    print(attempt(construct, 1, 2) and "no attributes")
    init.__code__ = code

    class Other(Point):
        pass

    print(hot(Other, 1))
    Other.__new__ = lambda cls, *rest, **more: 42
    print(Other(1))


class Deep:
    def __init__(self, depth):
        self.below = Deep(depth - 1) if depth else None


def test_recursion():
    hot(Deep, 3)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(120)
    reached = []
    for depth in range(10, 120):
        try:
            Deep(depth)
        except RecursionError:
            reached.append(depth)
            break
    sys.setrecursionlimit(limit)
    print(reached)


def add(a, b):
    return a + b


def scale(a, b):
    return a * b


def test_operators():
    p = Point(1, 2)
    print(hot(add, p, p), hot(scale, p, 3), hot(scale, p, 1.5))
    print(attempt(add, p, 1), attempt(add, 1, p), attempt(scale, p, "x"))
    print(add("a", "b"), add([1], [2]), add((1,), (2,)), add(1, 2.5), add(2.5, 1), add(True, 1))
    for pair in ((2**70, 1), (1, 2**70), (1.5, 2**70), (b"a", b"b"), ("é", "日"), ([1], (2,)),
                 (1j, 2), ("a", 1), (None, 1)):
        print(hot(attempt, add, *pair), hot(attempt, scale, *pair[::-1]))

    class Right(Point):
        def __radd__(self, other):
            return "right"

    print(add(p, Right(5, 6)), hot(add, Right(1, 1), Right(2, 2)))
    Point.__add__ = lambda self, other: "changed"
    print(add(p, p))


def integers(a, b):
    results = []
    for operation in (int.__and__, int.__or__):
        results.append(operation(a, b))
    results += [a & b, a | b, a ^ b, a << (b & 31), a >> (b & 31)]
    if b:
        results += [a // b, a % b]
    return results


def test_integers():
    edges = [0, 1, -1, 7, -7, 2**29, 2**30 - 1, 2**30, -(2**30), 2**31, 2**60, -(2**60), 2**62, 2**64]
    total = []
    for a in edges:
        for b in edges:
            total.append(integers(a, b))
    print(hash(str(total)) == hash(str([integers(a, b) for a in edges for b in edges])), total[17::29])
    print(attempt(lambda: 1 // 0), attempt(lambda: 1 % 0), attempt(lambda: 1 << -1))
    x = y = 10**6
    for _ in range(100):
        x += 1
        y = x ^ 0
    print(x, y, x is y)


def item(container, index):
    return container[index]


def store(container, index, value):
    container[index] = value


def test_subscripts():
    class Mine(list):
        def __getitem__(self, index):
            return "mine", index

    class Missing(dict):
        def __missing__(self, key):
            return "missing", key

    places = [[1, 2, 3], (1, 2, 3), "abc", "äöü", "日本語", b"abc", bytearray(b"abc"), {0: "zero"},
              Missing(), Mine([1]), range(5), list[int]]
    for place in places:
        hot(attempt, item, place, 0)
        print([attempt(item, place, index) for index in (0, 2, -1, -3, -4, 3, True, 2**40, -(2**70), "x",
                                                         slice(1), None)])
    for place in ([1, 2, 3], bytearray(b"abc"), {}, (1,), "abc"):
        hot(attempt, store, place, 0, 65)
        print([attempt(store, place, index, 66) for index in (-1, 3, -4, "k", slice(0, 1))], place)


def less(a, b):
    return a < b


def equal(a, b):
    if a == b:
        return "equal"
    return "different" if a != b else "neither"


def test_comparisons():
    nan = float("nan")
    values = [1, 2**70, 1.0, nan, "a", "b", "ab", "é", "ab" * 3, b"a", None, [1], (1, 2), True]
    strings = ["".join(["a", "b"]), "".join(["ab"]), "a" "b", chr(97), chr(233), "e\u0301"]
    for a in values + strings:
        hot(attempt, equal, a, a)
        hot(attempt, less, a, a)
    print([attempt(less, a, b) for a in values for b in values if type(a) is type(b)])
    print([equal(a, b) for a in values for b in values])
    print([equal(a, b) for a in strings for b in strings])

    class Odd:
        def __eq__(self, other):
            return []

        __ne__ = __eq__

    print(equal(Odd(), 1), attempt(less, Odd(), 1))


def each(iterable):
    result = []
    for value in iterable:
        result.append(value)
    return result


def gone():
    yield 1
    return 2


def fails():
    yield 1
    raise StopIteration("inside")


def test_iteration():
    kinds = [[1, 2], (1, 2), range(2), "ab", {1: 2}, {1}, b"ab", enumerate("ab"), zip("ab", "cd"), map(str, [1]),
             reversed([1, 2]), {1: 2}.items()]
    for kind in kinds:
        print(each(kind), each(kind))
    print(hot(lambda: each(gone())), attempt(each, fails()), attempt(each, 5))
    numbers = [1, 2, 3]
    print([numbers.append(n) or n for n in numbers if len(numbers) < 8], numbers)
    growing = {1: 1}
    print(attempt(lambda: [growing.setdefault(k + 1, 1) for k in growing]))
    iterator = iter(numbers)
    print(each(iterator), each(iterator), list(iterator))
    running = None

    def again():
        yield 1
        yield from each(running)

    running = again()
    print(attempt(each, running))


def echo():
    got = None
    while True:
        try:
            got = yield got
        except KeyError as error:
            got = "caught", str(error)


def through():
    result = yield from echo()
    return result


def test_generators():
    generator = hot(through)
    print(attempt(generator.send, 1), next(generator), [generator.send(i) for i in range(100)][-1])
    print(generator.throw(KeyError("key")), attempt(generator.throw, ValueError("value")), attempt(next, generator, 0))

    def context():
        try:
            raise ValueError("outer")
        except ValueError:
            yield sys.exc_info()[1]
            yield sys.exc_info()[1]

    for _ in range(100):
        own = context()
        try:
            raise TypeError("caller")
        except TypeError:
            first = [str(e) for e in own]
        after = sys.exc_info()[1]
    print(first, after)


class Base:
    made = 0

    def __new__(cls, *rest):
        cls.made += 1
        return super().__new__(cls)

    def __init__(self, value):
        self.value = value

    def name(self):
        return "base"

    @classmethod
    def create(cls):
        return cls.__name__

    @property
    def doubled(self):
        return self.value * 2


class Derived(Base):
    def __init__(self, value):
        super().__init__(value + 1)

    def name(self):
        return "derived of " + super().name()

    @classmethod
    def create(cls):
        return "derived " + super().create()

    @property
    def doubled(self):
        return super().doubled + 1

    def missing(self):
        return (super().
                nowhere())


def test_super():
    print(hot(lambda: Derived(1).name()), hot(Derived.create), Derived(3).doubled, Derived.made == Base.made)
    print(hot(attempt, Derived(1).missing))
    name = Base.name
    Base.name = lambda self: "another"
    print(Derived(1).name())
    Base.name = 5
    print(attempt(Derived(1).name))
    Base.name = name
    print(attempt(Derived.name, 5), attempt(Derived.name, None))
    made = Derived(1)
    other = type("Other", (), {"name": lambda self: "other"})
    globals()["super"] = other
    print(made.name())
    globals()["super"] = lambda: None
    print(attempt(made.name))
    del globals()["super"]
    print(Derived(1).name())


def star(first, *rest, key="k", **more):
    return first, rest, key, sorted(more.items())


def spread(places, names):
    return star(*places, **names)


def test_stars():
    print(hot(star, 1), hot(star, 1, 2, 3), hot(lambda: star(1, 2, key=3, other=4)))
    print(hot(spread, (1, 2), {}), hot(spread, [1], {"key": 2, "k" + str(2): 3}), spread((1,), {"a b": 1}))
    print(attempt(spread, (), {}), attempt(spread, (1,), {"first": 2}), attempt(spread, (1,), {1: 2}))

    def only(a, /, b, *, c=3, **more):
        return a, b, c, more

    print(hot(lambda: only(1, b=2)), hot(lambda: only(1, 2, a=5)), attempt(lambda: only(a=1, b=2)))
    print(attempt(lambda: only(1, 2, 3)), attempt(lambda: only(1)))


def test_builtins():
    def calls(things):
        return [len(things), isinstance(things, list), ord("a"), str(5), int("7"), things.count(1), abs(-3),
                things.append(1), things.pop(), sorted(things, reverse=True), dict(a=1), list(things), max(1, 2)]

    print(hot(calls, [1, 2, 3]))

    class Mine(list):
        def append(self, value):
            return "appended"

        def __len__(self):
            return 99

    print(calls(Mine([1, 2])), attempt(calls, "text"), attempt(calls, 5))


for test in [value for name, value in list(globals().items()) if name.startswith("test_")]:
    print(test.__name__)
    test()
