# Exceptions: lines, columns, chains, groups, handlers that change what is raised.
import sys
import traceback


def show(function, *arguments):
    try:
        print("value", function(*arguments))
    except BaseException:
        kind, value, tb = sys.exc_info()
        for frame in traceback.extract_tb(tb):
            print(" ", frame.name, frame.lineno, frame.colno, frame.end_colno, frame.line)
        seen = value
        while seen is not None:
            print("  =", type(seen).__name__, seen, "| cause", repr(seen.__cause__),
                  "| suppress", seen.__suppress_context__)
            seen = seen.__context__


def attribute(x):
    return (x.real +
            x.missing)


def subscript(table, key):
    return table[key][0] + table["other"]


def call(f):
    return [f(1), f(2,
                    3)]


def binary(a, b):
    c = a + 1
    return c * b + (
        a / b)


def unpack(x):
    a, b, *c = x
    return a, b, c


def unbound(flag):
    if flag:
        value = 1
    return value


def nested():
    try:
        try:
            {}["first"]
        finally:
            [][0]
    except IndexError as e:
        raise ValueError("second") from e


def swallow():
    for i in range(5):
        try:
            if i % 2:
                raise KeyError(i)
            continue
        except KeyError:
            if i == 3:
                break
        finally:
            print("finally", i)
    else:
        print("never")
    return i


def returns_in_finally():
    try:
        raise RuntimeError
    finally:
        return "kept"


def bare(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        print("in handler", sys.exc_info()[0].__name__)
        raise


def deleted_name():
    try:
        raise ValueError
    except ValueError as e:
        pass
    return e


def groups(kinds):
    try:
        raise ExceptionGroup("group", [k("x") for k in kinds])
    except* ValueError as e:
        print("values", [type(x).__name__ for x in e.exceptions])
    except* TypeError as e:
        print("types", [type(x).__name__ for x in e.exceptions])
        raise OSError("inside")
    return "through"


def comprehension(n):
    return [10 // (3 - i) for i in range(n)]


def deep(n):
    if n == 0:
        raise LookupError("bottom")
    return deep(n - 1) + 1


class Context:
    def __init__(self, swallow):
        self.swallow = swallow

    def __enter__(self):
        return self

    def __exit__(self, kind, value, tb):
        print("exit", kind and kind.__name__, tb and tb.tb_lineno)
        return self.swallow


def managed(swallow):
    with Context(False) as outer, Context(swallow):
        assert outer is None, "message"
    return "after"


def reraise_saved():
    try:
        deep(1)
    except LookupError as e:
        saved = e
    raise saved


class Odd:
    def __bool__(self):
        raise OverflowError("no truth")

    def __eq__(self, other):
        raise ArithmeticError("no equality")

    def __iter__(self):
        raise BufferError("no iteration")

    def __getattr__(self, name):
        raise AttributeError("no " + name)


def truth(x):
    while x:
        return 1


def equal(x):
    return 1 if x == 2 else 3


def iterate(x):
    for i in x:
        pass


for turn in range(3):
    show(attribute, 1)
    show(subscript, {"a": [1]}, "a")
    show(subscript, {}, "b")
    show(call, len)
    show(call, lambda *a: 1)
    show(binary, 1, 0)
    show(binary, "a", 1)
    show(unpack, [1])
    show(unpack, 5)
    show(unpack, range(4))
    show(unbound, False)
    show(unbound, True)
    show(nested)
    show(swallow)
    show(returns_in_finally)
    show(bare, 0)
    show(deleted_name)
    show(groups, [ValueError, ValueError])
    show(groups, [ValueError, TypeError])
    show(groups, [KeyError])
    show(comprehension, 5)
    show(deep, 6)
    show(managed, True)
    show(managed, False)
    show(reraise_saved)
    show(truth, Odd())
    show(equal, Odd())
    show(iterate, Odd())
    show(attribute, Odd())
