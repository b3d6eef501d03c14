# Globals and builtins that change under compiled code, and strange namespaces.
import builtins

value = 1


def read():
    return value, len([1, 2])


def changes():
    global value
    out = []
    for i in range(10):
        if i == 2:
            value = "changed"
        if i == 4:
            globals()["len"] = lambda x: "own len"
        if i == 6:
            del globals()["len"]
        if i == 7:
            builtins.fresh = "builtin"
        if i == 8:
            del value
        try:
            out.append(read())
        except NameError as e:
            out.append(str(e))
    value = 1
    return out


def fresh_name():
    return fresh


def many():
    for i in range(100):
        globals()["filler%d" % i] = i
    return read()


class Missing(dict):
    def __missing__(self, key):
        if key.startswith("m"):
            return key + "!"
        raise KeyError(key)


def own_namespaces():
    out = []
    code = compile("def f():\n return maybe\nr = [x for x in (1, 2)]\ns = mine\n", "<own>", "exec")
    space = Missing()
    space["__builtins__"] = builtins
    try:
        exec(code, {"__builtins__": builtins}, space)
        out.append((space["r"], space["s"]))
        out.append(space["f"]())
    except NameError as e:
        out.append(str(e))
    own = {"__builtins__": {"answer": 42}}
    exec("def g(): return answer\nfor _ in range_: pass", {**own, "range_": [1]}, own)
    out.append(own["g"]() if "g" in own else None)
    try:
        own["h"] = eval("lambda: len", own)
        own["h"]()
    except NameError as e:
        out.append(str(e))
    own["__builtins__"]["len"] = 5
    out.append(own["h"]())
    return out


def deletion():
    x = 1
    out = []
    for i in range(3):
        try:
            out.append(x)
            del x
        except UnboundLocalError as e:
            out.append(str(e))
            x = i
    return out


def cell_deletion():
    x = 1

    def inner():
        return x

    out = [inner()]
    del x
    try:
        out.append(inner())
    except NameError as e:
        out.append(str(e))
    x = 2
    out.append(inner())
    return out


class Scope:
    a = 1
    b = [a for _ in range(2)] if False else a
    try:
        c = [a for _ in range(2)]
    except NameError as e:
        c = str(e)
    for loop in range(50):
        a += loop
    del loop


def imports():
    import os.path as p
    from os import sep, path
    import collections.abc
    try:
        from os import nothing_like_this
    except ImportError as e:
        text = str(e).split(" (")[0]
    return p is path, sep, collections.abc.__name__, text


def star():
    space = {}
    exec("from math import *\nr = floor(pi)", space)
    return space["r"]


def annotated():
    space = {}
    exec("x: int = 1\ny: str\nclass C:\n z: float = 2\n w: list", space)
    return space["__annotations__"], space["C"].__annotations__


for turn in range(3):
    print(changes())
    print(fresh_name())
    print(many())
    print(own_namespaces())
    print(deletion(), cell_deletion())
    print(Scope.a, Scope.b, Scope.c)
    print(imports(), star(), annotated())
