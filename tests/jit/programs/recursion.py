# Deep recursion by every kind of call: limits, texts, native stacks.
import sys, threading


def r(n):
    return 0 if n == 0 else 1 + r(n - 1)


class A:

    def m(self, n):
        return 0 if not n else 1 + self.m(n - 1)

    def __getattr__(self, name):
        return getattr(self, name + 'x')

    def __eq__(self, o):
        return self == o

    def __repr__(self):
        return repr(self)


def gen(n):
    if n:
        yield from gen(n - 1)
    yield n


def kw(n, *, a=1):
    return 0 if not n else 1 + kw(n - 1, a=a)


def star(*a):
    return star(*a, 1)


def t(f, *a):
    try:
        return f(*a)
    except RecursionError as e:
        return 'RecursionError: ' + str(e)
    except MemoryError as e:
        return 'MemoryError'


print(t(r, 900), t(r, 5000), t(A().m, 900), t(A().m, 2000))
print(t(lambda: A() == A()), t(lambda: repr(A())))
print(t(lambda: sum(gen(300))), t(lambda: sum(gen(3000))))
print(t(kw, 900), t(kw, 3000), t(star))
sys.setrecursionlimit(100000)
print(t(r, 90000), t(A().m, 50000), t(kw, 50000))
sys.setrecursionlimit(1000)


def catch(n):
    try:
        return catch(n + 1)
    except RecursionError:
        return n


x = catch(0)
print(x > 900)
l = []


def fin(n):
    try:
        fin(n + 1)
    finally:
        l.append(n)


try:
    fin(0)
except RecursionError as e:
    print(len(l) > 900, l[:3] == [l[0], l[0] - 1, l[0] - 2])


def th():
    print(t(r, 900), t(r, 5000))
    sys.setrecursionlimit(20000)
    print(t(r, 15000))
    sys.setrecursionlimit(1000)


threading.stack_size(1 << 18)
k = threading.Thread(target=th)
k.start()
k.join()
sys.setrecursionlimit(1000)


class D:

    def __init__(self, n):
        self.n = n
        if n:
            self.d = D(n - 1)


print(t(lambda: D(400).n), t(lambda: D(2000).n))
f = lambda n: 0 if not n else max([n], key=lambda x: f(n - 1))
print(t(f, 100), t(f, 2000))


def comp(n):
    return [comp(n - 1) for _ in range(1)] if n else 0


print(len(str(t(comp, 300))), t(comp, 3000))
