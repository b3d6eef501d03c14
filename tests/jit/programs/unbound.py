# Loads of unbound locals: the interpreter names the first load of a pair once code is warm.
import traceback


def f(p0):
    for i in range(10, -2, -1):
        for k in range(1, 9):
            pass
        del i
        p0 = p0 * (i & 255) * (i & 255) | p0


def g(p0, i):
    del i
    p0 = p0 * (i & 255) + (i & 255)
    return p0


def h(p0):
    p0 = p0 * (i & 255) + (i & 255)
    i = 3


def k(n):
    for j in range(n):
        if j == n - 2:
            del q
        if j:
            z = (j + q) * (q + 1)
        q = j
    return z


for fn, a in ((f, (5,)), (g, (5, 1)), (h, (1,)), (k, (1500,))) * 2:
    try:
        fn(*a)
    except UnboundLocalError as e:
        t = traceback.extract_tb(e.__traceback__)[-1]
        print(fn.__name__, t.lineno, t.colno, t.end_colno, e)
