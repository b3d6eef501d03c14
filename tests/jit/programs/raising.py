# Exceptions of every origin, with their whole text.
import traceback, sys


def show(f, *a):
    try:
        return f(*a)
    except BaseException as e:
        t = ''.join(traceback.format_exception(e))
        print(t)


def a(n):
    for i in range(n):
        try:
            try:
                if i == n - 1:
                    raise ValueError(i)
            finally:
                if i == n - 1:
                    {}['k']
        except KeyError as e:
            e.add_note('note %d' % i)
            raise TypeError('t') from e


def b(x):
    return (x.a
            .b(1,
               x[2]) + x.c)


def c():
    try:
        raise ExceptionGroup('g', [ValueError(1), TypeError(2), ExceptionGroup('h', [KeyError(3)])])
    except* ValueError as e:
        print('v', e.exceptions)
    except* KeyError as e:
        print('k', e.exceptions)


def d():
    for i in range(3):
        try:
            continue
        finally:
            try:
                1 / 0
            except ZeroDivisionError:
                pass
    while True:
        try:
            return 1
        finally:
            break
    return 2


def e():
    try:
        raise KeyError('a')
    except KeyError as x:
        pass
    try:
        x
    except UnboundLocalError as y:
        return str(y)


def f():
    with open('/nonexistent') as g:
        pass


class CM:

    def __enter__(self):
        return self

    def __exit__(self, t, v, tb):
        self.t = t
        raise RuntimeError('in exit')


def g():
    with CM() as x, CM() as y:
        1 / 0


def h(n):
    if n == 0:
        raise OSError(2, 'x')
    try:
        h(n - 1)
    except OSError:
        raise


def i():
    raise


def j():
    raise 5


def k():
    raise ValueError from 5


def l():
    assert 1 == 2, ('msg', 1)


def m():

    def inner():
        yield 1
        raise StopIteration
    list(inner())


def n():
    x = [1, 2, 3]
    return x[0] + x[1] * x[5] - x[2]


def o():
    a, b = (1, 2, 3)


def p():
    return undefined_name + 1


def q():
    from os import nothing


def r():
    import nothing.at.all


def s():
    return f'{1 / 0}'


def t():
    return [1 / z for z in (1, 0)]


def u():
    return {**{'a': 1}, **5}


def v():
    return print(*5)


def w():
    return (lambda: (yield))().throw(ValueError('thrown'))


def x():
    del undefined_thing


def y():
    return 1 if not 5 < 'a' else 2


def z():

    class Q:
        x = 1 / 0


for rep in range(3):
    for fn in (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z):
        r = show(fn, *([3] if fn in (a, h) else [None] if fn is b else []))
        if r is not None:
            print(fn.__name__, r)


def chain(n):
    try:
        if n:
            chain(n - 1)
        else:
            raise ValueError('deep')
    except ValueError as e:
        raise ValueError(n) from e


show(chain, 5)


def cur():
    try:
        1 / 0
    except ZeroDivisionError:
        a = sys.exc_info()[0].__name__
        try:
            [][0]
        except IndexError:
            b = sys.exc_info()[0].__name__
        c = sys.exc_info()[0].__name__
    return (a, b, c, sys.exc_info())


for _ in range(3):
    print(cur())


def gx():
    try:
        yield 1
    except ValueError:
        yield sys.exc_info()[0].__name__
    yield sys.exc_info()


def useg():
    g = gx()
    next(g)
    try:
        1 / 0
    except ZeroDivisionError:
        r = (g.throw(ValueError()), next(g)[0].__name__, sys.exc_info()[0].__name__)
    return r


for _ in range(3):
    print(useg())
