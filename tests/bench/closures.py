"""Functions as values: closures with nonlocal, decorators, partial application, dispatch.

Usage: closures.py [N]; 1500 in the tests
"""

import functools
import sys


def counter(start=0, step=1):
    value = start

    def count():
        nonlocal value
        value += step
        return value

    def reset(to=0):
        nonlocal value
        value = to

    count.reset = reset
    return count


def traced(function):
    calls = 0

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        nonlocal calls
        calls += 1
        wrapper.calls = calls
        return function(*args, **kwargs)

    return wrapper


def clamped(low, high):
    def decorate(function):
        def wrapper(value):
            result = function(value)
            if result < low:
                return low
            if result > high:
                return high
            return result

        return wrapper

    return decorate


def memoized(function):
    cache = {}

    def wrapper(*key):
        try:
            return cache[key]
        except KeyError:
            result = cache[key] = function(*key)
            return result

    wrapper.cache = cache
    return wrapper


def compose(*functions):
    def composed(value):
        for function in functions:
            value = function(value)
        return value

    return composed


@traced
def describe(a, b=2, *rest, c=3, **more):
    return a + b + c + len(rest) + sum(more.values())


@clamped(10, 5000)
def shifted(value):
    return value * 3 - 100


@memoized
def ways(total, coins):
    if total == 0:
        return 1
    if total < 0 or not coins:
        return 0
    return ways(total - coins[0], coins) + ways(total, coins[1:])


class Machine:
    """A stack machine whose instructions are bound methods in a table."""

    def __init__(self):
        self.stack = []
        self.table = {
            "push": self.stack.append,
            "add": self.binary(lambda a, b: a + b),
            "mul": self.binary(lambda a, b: a * b % 9973),
            "dup": self.dup,
            "swap": self.swap,
        }

    def binary(self, operation):
        def run():
            b = self.stack.pop()
            a = self.stack.pop()
            self.stack.append(operation(a, b))

        return run

    def dup(self):
        self.stack.append(self.stack[-1])

    def swap(self):
        self.stack[-1], self.stack[-2] = self.stack[-2], self.stack[-1]

    def run(self, program):
        table = self.table
        for name, *arguments in program:
            table[name](*arguments)
        return self.stack.pop()


def main(n=380000):
    counters = [counter(i, i + 1) for i in range(10)]
    print(sum(counters[i % 10]() for i in range(n)))
    counters[3].reset(7)
    print(counters[3](), [count.__closure__[-1].cell_contents for count in counters][:5])

    total = 0
    for i in range(n):
        total += describe(i)
        total += describe(i, 5, 6, 7)
        total += describe(i, c=i % 3, extra=1)
    print(total, describe.calls, describe.__name__)

    print(sum(map(shifted, range(n))), ways(n // 100, (50, 20, 10, 5, 2, 1)), len(ways.cache))

    steps = [lambda x, k=k: (x * k + 1) % 1009 for k in range(1, 6)]
    pipeline = compose(*steps, functools.partial(pow, 2), lambda x: x % 997)
    print(sum(pipeline(i) for i in range(n // 4)))

    machine = Machine()
    program = [("push", 2), ("push", 3), ("add",), ("dup",), ("mul",), ("push", 7), ("swap",),
               ("add",), ("dup",), ("mul",)]
    print(sum(machine.run(program) for _ in range(n // 6)), machine.stack)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
