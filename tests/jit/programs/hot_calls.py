# Calls in hot loops: what the callee sees of the loop around it, and does to it.
import sys, gc


def look():
    f = sys._getframe(1)
    return (f.f_lineno, sorted(((k, v) for k, v in f.f_locals.items() if type(v) in (int, float, str, bool))))


def seen(n):
    out = []
    s = 0
    x = 1.5
    for i in range(n):
        s += i
        x = x * 1.5
        if i % 5 == 0:
            out.append(look())
        t = s * 2
        x = x - 0.25
    return (out, s, x, t)


def aliased(n):
    x = 1.5
    y = x
    l = []
    for i in range(n):
        x = x + 1.0
        y = x
        l.append(y)
        if l[-1] is not x or y is not x:
            return ('not the same', i)
    return (x is y, l[-1] is x, len(set(map(id, l[-3:]))))


def raising(n, at):
    s = 0
    x = 0.5
    for i in range(n):
        s += 1
        x += 1.0
        check(i, at)
        s += 1
    return s


def check(i, at):
    if i == at:
        raise ValueError(i)
    return i


def caught(n):
    bad = 0
    x = 0.0
    for i in range(n):
        x += 0.5
        try:
            check(i % 4, 2)
            x += 1.0
        except ValueError as e:
            bad += 1
            x -= e.args[0]
    return (bad, x)


G = 1


def setg(i):
    global G
    if i % 7 == 0:
        G += 1
    return i


def globs(n):
    s = 0
    for i in range(n):
        setg(i)
        s += G
    return s


class P:

    def __init__(self, v):
        self.v = v

    def get(self):
        return self.v

    def add(self, d):
        self.v += d
        return self


def attrs(n, hook):
    p = P(1)
    s = 0
    for i in range(n):
        s += p.v
        p.v = i
        hook(p, i)
        s += p.get()
        p.add(1)
    return (s, p.v, type(p.v).__name__)


def h0(p, i):
    pass


def h1(p, i):
    if i == 20:
        p.v = 2.5


def h2(p, i):
    if i == 20:
        p.v = 's'


def h3(p, i):
    if i == 20:
        P.get = lambda self: 100


def h4(p, i):
    if i == 20:
        del p.v


def h5(p, i):
    if i == 20:
        p.__class__ = Q


class Q(P):

    def get(self):
        return 7


def h6(p, i):
    if i == 20:
        P.v = property(lambda self: 9, lambda self, v: None)


def hooks(h):
    old = P.get
    try:
        return attrs(40, h)
    except Exception as e:
        return (type(e).__name__, str(e), e.__traceback__.tb_next.tb_lineno)
    finally:
        P.get = old
        if 'v' in P.__dict__:
            del P.v


class N:

    def __init__(self, n):
        self.n = n

    def __del__(self):
        f = sys._getframe(1)
        LOG.append((self.n, f.f_code.co_name, f.f_lineno, f.f_locals.get('s')))


LOG = []


def dels(n):
    s = 0
    x = None
    for i in range(n):
        s += 1
        x = N(i)
        s += 1
    LOG.append('end')
    return s


def dels2(n):
    s = 0
    l = [N(-1)]
    for i in range(n):
        s += 1
        l[0] = N(i)
        s += 1
        l.append(N(i + 100))
        l.pop()
        s += 1
    return s


def inner_list(n):
    t = 0
    for i in range(n):
        for a in [i, i + 1, 2.5]:
            t += a
        for b, c in ((1, 2), (3, 4)):
            t += b * c
        for k in range(3):
            if k == 1:
                continue
            t += k
        w = [q * q for q in range(3)]
        t += w[-1]
    return t


def overflow(n):
    a = 2 ** 62 - 50
    b = 1
    out = []
    for i in range(n):
        a += 1
        b *= 3
        if i == 60:
            out.append((a, b))
    out.append((a, b, -a, a // 7, a % -7, a << 3, a >> 2, ~a, a ^ b, a & b, a | b))
    return out


def floats(n):
    x = 1e+308
    y = -0.0
    z = float('nan')
    o = []
    for i in range(n):
        x = x * 1.5
        y = y * -1.0
        if z == z:
            o.append('nan equal')
        if i == 3:
            o.append((x, y, z))
        if y < 0.0 or y > 0.0:
            o.append(y)
    try:
        for i in range(n):
            x = 1.0 / (n - 3 - i)
    except ZeroDivisionError as e:
        o.append((str(e), i, x))
    return repr(o)


def strs(n):
    s = ''
    for i in range(n):
        s += 'ab'
        if len(s) > 40:
            s = s[3:]
        if s[0] == 'b':
            s = 'c' + s
    return s


def rec(n):
    t = 0
    for i in range(3):
        t += 1
        if n:
            t += rec(n - 1)
    return t


def trac(n):
    ev = []

    def tr(f, e, a):
        if f.f_code.co_name == 'trac' or f.f_code.co_name == 'check':
            ev.append((e, f.f_code.co_name, f.f_lineno - trac.__code__.co_firstlineno, f.f_locals.get('s')))
        return tr

    def on(i):
        if i == n - 3:
            sys.settrace(tr)
            sys._getframe(1).f_trace = tr
    s = 0
    for i in range(n):
        s += 1
        on(i)
        s += check(i, -1)
    sys.settrace(None)
    return (ev, s)


def gens(n):

    def g(k):
        s = 0
        for i in range(k):
            s += i
            r = (yield s)
            if r:
                s += r
    t = 0
    it = g(n)
    for v in it:
        t += v
        if v > 20 and v % 2:
            t += it.send(5)
    return t


def swapcode(n):
    s = 0
    for i in range(n):
        s += leaf(i)
        if i == n // 2:
            leaf.__code__ = (lambda x: x * 1000).__code__
    leaf.__code__ = OLD
    return s


def leaf(x):
    return x + 1


OLD = leaf.__code__


def frames_escape(n):
    fs = []
    s = 0
    for i in range(n):
        s += i
        if i in (3, n - 2):
            fs.append(sys._getframe())
        t = s
    return [(f.f_lineno, f.f_locals['s'], f.f_locals['t']) for f in fs]


def loc(n):
    s = 0
    for i in range(n):
        s += 1
        if i == n - 1:
            return (sorted(locals().items()), eval('s + i'), vars()['s'])


def whilev(n):
    i = 0
    tot = 0
    while i < n:
        j = i
        while j > 0:
            j -= 3
            if j == 5:
                break
        else:
            tot += 1
        tot += j
        i += 1
        if tot > 10 ** 6:
            return None
    return (tot, j)


def mixed(n):
    x = 0
    out = []
    for i in range(n):
        if i == n // 2:
            x = 0.5
        x = x + 1
        if i > n - 3:
            out.append(x)
    b = True
    for i in range(n):
        b = b + True
    c = True
    for i in range(n):
        c = c & (i >= 0)
    return (out, b, c)


def unb(n):
    for i in range(n):
        if i > n - 2:
            z = 1
        if i == n - 1:
            return z


def unb2(n):
    t = 0
    for i in range(n):
        if i == n - 2:
            del t
        t += 1


def retry(f, *a):
    try:
        return f(*a)
    except Exception as e:
        return (type(e).__name__, str(e), e.__traceback__.tb_next.tb_lineno)


for rep in range(3):
    for n in (5, 45, 1500):
        print(retry(seen, min(n, 200)), retry(aliased, n), retry(raising, n, n // 2), retry(raising, n, -1), caught(n))
        print(retry(globs, n), [hooks(h) for h in (h0, h1, h2, h3, h4, h5, h6)])
        LOG.clear()
        print(dels(min(n, 60)), LOG)
        LOG.clear()
        print(dels2(min(n, 60)), LOG)
        print(inner_list(n), overflow(n), floats(n), strs(n), retry(gens, min(n, 300)), swapcode(n), frames_escape(n), loc(n), whilev(min(n, 200)), mixed(n), retry(unb, n), retry(unb2, n))
    print(rec(6), trac(8), trac(60))
