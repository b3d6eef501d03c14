# Reference counts to the statement: who dies when.
import gc
import sys
import weakref

log = []


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        log.append(("del", self.name, sys._getframe(1).f_lineno))

    def __add__(self, other):
        return Noisy(self.name + other.name)

    def __lt__(self, other):
        return Noisy("lt")

    def __getitem__(self, i):
        return Noisy(self.name + str(i))

    def method(self):
        return self

    def __iter__(self):
        return iter([Noisy("i0"), Noisy("i1")])


def show(label):
    print(label, log)
    log.clear()


def statements():
    a = Noisy("a")
    show("made")
    a = Noisy("b")
    show("rebound")
    Noisy("c")
    show("dropped")
    b = Noisy("d") + Noisy("e")
    show("added")
    b[1]
    show("subscript")
    x = b[2][3]
    show("twice")
    b.method().method()
    show("methods")
    del x
    show("deleted")
    (Noisy("p"), Noisy("q"))
    show("tuple")
    u, v = Noisy("u"), Noisy("v")
    u, v = v, u
    show("swapped")
    for i in Noisy("iterable"):
        show("in loop")
    show("after loop")
    [j for j in Noisy("comprehended")]
    show("comprehension")
    if Noisy("f") < Noisy("g"):
        show("in if")
    w = lambda: a
    del w
    show("closure")
    return Noisy("r").name


def arguments(x, y=None):
    x = None
    show("argument dropped")
    del y
    show("second")


def counts():
    o = object()
    n = [sys.getrefcount(o)]
    p = o
    n.append(sys.getrefcount(o))
    q = [o, o]
    n.append(sys.getrefcount(o))
    del p
    n.append(sys.getrefcount(o))
    for r in q:
        n.append(sys.getrefcount(o))
    n.append(sys.getrefcount(r))
    q = None
    n.append(sys.getrefcount(o))
    d = {"k": o}
    n.append(sys.getrefcount(d["k"]))
    t = (o,) * 3
    n.append(sys.getrefcount(t[0]))
    return n


def fails():
    x = Noisy("x")
    try:
        Noisy("y") + 1
    except AttributeError:
        show("handler")
    show("after handler")
    raise KeyError(x.name)


def weak():
    class C:
        pass

    c = C()
    events = []
    r = weakref.ref(c, lambda _: events.append("gone"))
    events.append(r() is c)
    c = None
    events.append(r())
    d = C()
    d.self = d
    r = weakref.ref(d)
    del d
    events.append(r() is not None)
    gc.collect()
    events.append(r())
    return events


def generator():
    a = Noisy("ga")
    yield 1
    b = Noisy("gb")
    try:
        yield 2
    finally:
        log.append("closing")


def totals():
    # Nothing leaks over many turns.
    def work(i):
        try:
            x = [i, str(i), {i: i}]
            y = (x, x)
            if i % 3 == 0:
                raise ValueError(x)
            return [z for z in y][0][1]
        except ValueError as e:
            return e.args[0][1]

    for i in range(50):
        work(i)
    gc.collect()
    before = len(gc.get_objects())
    for i in range(300):
        work(i)
    gc.collect()
    return len(gc.get_objects()) - before


gc.disable()
for turn in range(3):
    print(statements())
    show("returned")
    arguments(Noisy("1"), Noisy("2"))
    print(counts())
    try:
        fails()
    except KeyError as e:
        print(repr(e))
    show("failed")
    print(weak())
    g = generator()
    next(g)
    show("g1")
    next(g)
    show("g2")
    g.close()
    show("g closed")
    g = generator()
    next(g)
    del g
    show("g deleted")
    print(totals() < 5)
