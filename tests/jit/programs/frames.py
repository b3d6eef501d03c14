# What frames show of themselves while compiled code runs.
import inspect
import sys


def line():
    return sys._getframe(1).f_lineno


def lines(n):
    a = line()
    b = [line(),
         line()]
    for i in range(n):
        b.append(line())
        if i:
            b.append(line())
    return (a, b,
            line())


def chain():
    f = sys._getframe()
    names = []
    while f is not None:
        names.append((f.f_code.co_name, f.f_lineno))
        f = f.f_back
    return names


def through(n):
    if n:
        return through(n - 1)
    return [chain() for _ in range(1)]


def with_locals(a, b=2, *c, d=4, **e):
    x = a + b
    before = dict(sys._getframe().f_locals)
    y = x * 2
    del x
    z = [y for y in range(3)]
    after = dict(locals())
    return sorted(before.items(), key=str), sorted(after.items(), key=str)


def cells():
    x = 1

    def inner():
        nonlocal x
        x += 1
        return sorted(sys._getframe(1).f_locals)

    names = inner()
    return names, x, sorted(locals())


class Body:
    here = sys._getframe().f_lineno
    names = sorted(k for k in locals() if not k.startswith("__"))


def generator():
    yield sys._getframe().f_lineno
    x = yield sys._getframe().f_back.f_code.co_name
    yield x, sorted(sys._getframe().f_locals)


def lasti():
    return [sys._getframe().f_lasti, sys._getframe().f_lasti]


def positions():
    f = sys._getframe(); return [p for p in list(f.f_code.co_positions())[f.f_lasti // 2]]


def stack():
    return [(s.function, s.lineno, s.index) for s in inspect.stack()]


def change_local():
    x = 1
    sys._getframe().f_locals["x"] = 99
    return x


def kept():
    x = [1, 2, 3]
    return sys._getframe()


def finder():
    try:
        raise ValueError
    except ValueError as e:
        return e.__traceback__.tb_frame


def module_globals():
    return sys._getframe().f_globals is globals(), sys._getframe().f_builtins["len"] is len


for turn in range(3):
    print(lines(3))
    print(through(4))
    print(with_locals(1), with_locals(1, 2, 3, 4, d=5, f=6))
    print(cells())
    g = generator()
    print(next(g), next(g), g.send("sent"), g.gi_frame.f_lineno, list(g), g.gi_frame)
    print(lasti(), positions())
    print(stack())
    print(change_local())
    f = kept()
    print(f.f_locals, f.f_lineno, f.f_back and f.f_back.f_code.co_name)
    f.clear()
    print(f.f_locals)
    f = finder()
    print(f.f_locals, f.f_lineno)
    print(module_globals())
print(Body.here, Body.names)
