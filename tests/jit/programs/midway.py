# What code relies on, replaced while it runs.
import builtins, sys, types, gc, weakref


def f(x, y=1):
    return x + y


def loop(n, what):
    out = []
    for i in range(n):
        if i == n // 2:
            what()
        out.append(f(i))
    return (out[-3:], out[:2])


def a():
    f.__defaults__ = (100,)


def b():
    f.__code__ = (lambda x, y=2: x * y).__code__


def c():
    f.__kwdefaults__ = {'z': 5}


print(loop(50, a), loop(50, b), loop(50, c))


def g(x):
    return len(x)


def loop2(n, what):
    out = []
    for i in range(n):
        if i == n // 2:
            what()
        out.append(g([1, 2]))
    return (out[0], out[-1])


def d():
    builtins.len = lambda x: 42


def e():
    builtins.len = orig


orig = len
print(loop2(20, d), loop2(20, e))


def d2():
    globals()['len'] = lambda x: 43


def e2():
    del globals()['len']


print(loop2(20, d2), loop2(20, e2))


class P:
    k = 1

    def m(self):
        return self.k


class Q:
    k = 2

    def m(self):
        return self.k * 10


p = P()


def loop3(n, what):
    out = []
    for i in range(n):
        if i == n // 2:
            what()
        out.append(p.m())
    return (out[0], out[-1])


def s1():
    p.__class__ = Q


def s2():
    Q.m = lambda self: 'patched'


def s3():
    Q.k = property(lambda self: 'prop')
    Q.m = P.m


def s4():
    del Q.k
    Q.__getattr__ = lambda self, n: 'ga ' + n


def s5():
    p.k = 'inst'


def s6():
    p.__dict__ = {'k': 'newdict'}


def s7():
    Q.__getattribute__ = lambda self, n: lambda: 'gab ' + n


for s in (s1, s2, s3, s4, s5, s6, s7):
    print(s.__name__, loop3(20, s))


class Meta(type):

    def __call__(cls, *a):
        return ('meta', a)


class R:
    pass


def loop4(n, what):
    out = []
    for i in range(n):
        if i == n // 2:
            what()
        r = R()
        out.append(type(r).__name__)
    return (out[0], out[-1])


def m1():
    R.__init__ = lambda self: setattr(self, 'z', 1)


def m2():
    R.__new__ = lambda cls: 5


def m3():
    global R
    R = Meta('R', (), {})


for s in (m1, m2, m3):
    print(loop4(20, s))
m = types.ModuleType('m')
m.a = 1


def loop5(n, what):
    out = []
    for i in range(n):
        if i == n // 2:
            what()
        out.append(m.a)
    return (out[0], out[-1])


def g1():
    m.a = 2


def g2():
    m.__getattr__ = lambda n: 'got ' + n
    del m.a


def g3():

    class MM(types.ModuleType):

        @property
        def a(self):
            return 'mprop'
    m.__class__ = MM


for s in (g1, g2, g3):
    print(loop5(20, s))


def mut():
    l = [1, 2, 3, 4, 5]
    out = []
    for x in l:
        out.append(x)
        if len(l) < 9:
            l.append(x * 10)
        if x == 3:
            del l[0]
    return (out, l)


print(mut(), mut())


def dmut():
    d = {1: 1, 2: 2}
    try:
        for k in d:
            d[k + 10] = 1
    except RuntimeError as e:
        return str(e)


print([dmut() for _ in range(3)])


def locs(n):
    out = []
    for i in range(n):
        l = sys._getframe().f_locals
        out.append(sorted(l))
        x = i
    del x
    return (out[-1], 'x' in sys._getframe().f_locals)


print(locs(10))


def unbound(n):
    for i in range(n):
        if i == n - 1:
            del z
        if i:
            q = z if i < n - 1 else z
        z = i


try:
    unbound(10)
except UnboundLocalError as e:
    print(e)


def mk():
    fs = []
    for i in range(5):
        fs.append(lambda: i)
    return [f() for f in fs]


print(mk(), mk())


def cell_del():
    x = 1

    def g():
        return x
    r = [g()]
    del x
    try:
        g()
    except NameError as e:
        r.append(str(e))
    x = 3
    r.append(g())
    return r


print([cell_del() for _ in range(3)])
log = []


def cb(phase, info):
    log.append(phase)


class W:
    pass


def wk(n):
    seen = []
    for i in range(n):
        w = W()
        r = weakref.ref(w, lambda _: seen.append(i))
        w.r = r
        w = None
    return seen


print(wk(10))
gc.callbacks.append(cb)


def alloc(n):
    for i in range(n):
        a = []
        a.append(a)


alloc(3000)
gc.callbacks.remove(cb)
print(len(log) > 2, log[:2])


def setcell():

    def inner():
        return v
    v = 1
    out = []
    for i in range(20):
        if i == 10:
            inner.__closure__[0].cell_contents = 99
        out.append(inner())
    return (out[0], out[-1], v)


print(setcell())


def kwd(*, a=1, b=2):
    return (a, b)


def loopk(n):
    out = []
    for i in range(n):
        if i == 10:
            kwd.__kwdefaults__ = {'a': 7}
        try:
            out.append(kwd(b=3) if i < 15 else kwd())
        except TypeError as e:
            out.append(str(e))
    return (out[0], out[12], out[-1])


print(loopk(20))
