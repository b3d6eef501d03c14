# Attributes: slots, descriptors, dictionaries, types that change while they are used.
import types


class Slots:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a = 1


class Describe:
    def __init__(self, name):
        self.name = name

    def __get__(self, obj, owner):
        return ("get", self.name, obj is None, owner.__name__)

    def __set__(self, obj, value):
        obj.__dict__["_" + self.name] = value

    def __delete__(self, obj):
        obj.__dict__["deleted"] = self.name


class NonData:
    def __get__(self, obj, owner):
        return "nondata"


class Uses:
    data = Describe("data")
    non = NonData()
    plain = "class value"

    def __setattr__(self, name, value):
        if name == "forbidden":
            raise AttributeError("forbidden!")
        object.__setattr__(self, name, value)


class Everything:
    def __getattribute__(self, name):
        return "attribute " + name


class Fallback:
    known = 1

    def __getattr__(self, name):
        if name == "broken":
            raise AttributeError("really not")
        return name.upper()


def attempt(f):
    try:
        return f()
    except AttributeError as e:
        return str(e)


def slots():
    s = Slots()
    out = [s.a, attempt(lambda: s.b)]
    s.b = 5
    out.append(s.b)
    del s.a
    out.append(attempt(lambda: s.a))

    def bad():
        s.c = 1
    out.append(attempt(bad))
    return out


def descriptors():
    u = Uses()
    out = [u.data, Uses.data, u.non, u.plain]
    u.data = 7
    u.non = "own"
    u.plain = "instance"
    out += [u._data, u.data, u.non, u.plain]
    del u.data
    del u.plain
    out += [u.deleted, u.plain]

    def bad():
        u.forbidden = 1
    out.append(attempt(bad))
    out += [Everything().x, Fallback().known, Fallback().other,
            attempt(lambda: Fallback().broken)]
    return out


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def total(self):
        return self.x + self.y


def shapes_changing():
    points = [Point(i, i * 2) for i in range(6)]
    points[1].z = 1
    points[2].__dict__ = {"y": 10, "x": 20}
    del points[3].x
    points[3].x = 99
    points[4].__dict__["x"] = "a"
    points[4].y = "b"
    out = []
    for i in range(3):
        for p in points:
            try:
                out.append(p.total())
            except TypeError as e:
                out.append(str(e))
        if i == 0:
            Point.x = property(lambda self: 1000, lambda self, v: None)
        if i == 1:
            del Point.x
    return out


def many_types():
    kinds = []
    for i in range(12):
        kinds.append(type("T%d" % i, (), {"v": i, "m": lambda self, i=i: i * 10}))
    out = []
    for turn in range(3):
        for k in kinds:
            o = k()
            o.w = turn
            out.append(o.v + o.m() + o.w)
        kinds[turn].v = 1000
    return out


def hierarchy():
    class A:
        x = "A"

    class B(A):
        pass

    class C(B):
        pass
    c = C()
    out = []
    for i in range(8):
        out.append(c.x)
        if i == 1:
            B.x = "B"
        if i == 2:
            A.x = "A2"
        if i == 3:
            del B.x
        if i == 4:
            C.__bases__ = (A,)
        if i == 5:
            c.__dict__["x"] = "own"
        if i == 6:
            C.x = Describe("over")
    return out


class Meta(type):
    def __getattr__(cls, name):
        return "meta " + name

    @property
    def size(cls):
        return 42


class WithMeta(metaclass=Meta):
    pass


def modules():
    m = types.ModuleType("m")
    m.value = 1
    out = [m.value, attempt(lambda: m.none)]
    m.__getattr__ = lambda name: "dynamic " + name
    out += [m.other, WithMeta.anything, WithMeta.size, attempt(lambda: WithMeta().anything)]
    return out


def big_instances():
    class Big:
        pass
    b = Big()
    for i in range(60):
        setattr(b, "f%d" % i, i)
    total = 0
    for i in range(60):
        total += getattr(b, "f%d" % i)
    b.f0 = 100
    del b.f1
    return total, b.f0, attempt(lambda: b.f1), len(vars(b))


def augmented():
    p = Point(1, 2)
    for i in range(100):
        p.x += i
        p.y -= 1
        p.x, p.y = p.y, p.x
    lists = Point([], [])
    for i in range(5):
        lists.x += [i]
        lists.y.append(i)
    return p.x, p.y, lists.x, lists.y


for turn in range(3):
    print(slots())
    print(descriptors())
    print(shapes_changing())
    print(many_types())
    print(hierarchy())
    print(modules())
    print(big_instances())
    print(augmented())
