# Loops over numbers that an optimiser keeps unboxed: what is around them must not notice.
import sys


class Noisy:
    """Says when it goes, from which line, and the numbers of the frame it goes in."""

    def __init__(self, name):
        self.name = name

    def __del__(self):
        frame = sys._getframe(1)
        numbers = {k: v for k, v in frame.f_locals.items() if type(v) in (int, float)}
        print("del", self.name, frame.f_code.co_name, frame.f_lineno, numbers)


def make(count):
    return [Noisy(i) for i in range(count)]


def last_reference_is_the_iterator(count):
    total = times = 0
    for item in make(count):
        total += 2
        times = total * 3
    times += 1
    return total, times


def list_rebound_while_iterated(turns):
    items, others, total = make(3), [1.0, 2.0], 0
    for i in range(turns):
        total += 1
        for item in items:
            items = others
            total += 1
    return total


def object_replaced_by_a_number(objects, turns):
    total = 0.0
    for i in range(turns):
        item = objects[i]
        objects[i] = 0
        item = 1.5
        total = total + item
        total = total + 2.0
    print("after the loop")
    return total


def other_types_later(items):
    total = 0
    for item in items:
        total += 1
    return total


def assigned_to_each_other(turns):
    x, y, m, n = 1.5, 0.0, 1000, 0
    for i in range(turns):
        x = x + 1.0
        y = x
        m = m + 1000
        n = m
    return x is y, m is n, x, n


def chained(turns):
    a = b = c = 0.5
    for i in range(turns):
        a = b = c + 1.25
        c = a
    return a is b, b is c, a


def swapped(turns):
    a, b = 1.5, 2.5
    first, second = a, b
    for i in range(turns):
        a, b = b, a
    return a is first, b is second, a is second


def aliases_on_entry(turns):
    a = b = 12345.5
    x = float("nan")
    held = [x]
    c = 0.0
    for i in range(turns):
        if i > 1000000:
            a = b = 1.0
            x = 2.0
        c = c + 1.0
    return a is b, x in held, held[0] is x, c


def passed_on(turns):
    x = 0.25
    held = []
    for i in range(turns):
        x = x * 1.5
        if i == turns - 1:
            held.append(x)
    return held[0] is x, held == [x]


class Names(dict):
    def __getitem__(self, name):
        if name == "K":
            return 7
        return dict.__getitem__(self, name)


GLOBALS_OF_THEIR_OWN = """
def f(turns):
    total = 0
    for i in range(turns):
        total = total + K
    return total
"""


def own_globals(turns):
    out = []
    for space in (Names(K=3), {"K": 3, "__builtins__": Names(range=range)},
                  {"__builtins__": Names(range=range)}):
        exec(GLOBALS_OF_THEIR_OWN, space)
        try:
            out.append(space["f"](turns))
        except NameError as e:
            out.append(str(e))
    return out


for turns in (3, 40, 1200):
    print(last_reference_is_the_iterator(min(turns, 7)))
    print(list_rebound_while_iterated(min(turns, 7)))
    print(object_replaced_by_a_number(make(5), 5))
    print(object_replaced_by_a_number([[i] for i in range(turns)], turns))
    print(other_types_later([1] * turns + ["x", 2.5] * 30 + [3] * turns))
    print(assigned_to_each_other(turns), chained(turns), swapped(turns))
    print(aliases_on_entry(turns), passed_on(turns), own_globals(turns))
