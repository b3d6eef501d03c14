# Generators, coroutines, asynchronous generators: every way in and out.
import asyncio
import sys


def counter(n):
    try:
        while n:
            got = yield n
            if got is not None:
                n = got
            n -= 1
    except ValueError as e:
        yield "caught " + str(e)
        raise KeyError("from handler")
    finally:
        print("finally", n)
    return "done"


def delegate(n):
    result = yield from counter(n)
    print("result", result)
    yield from [1, 2]
    return (yield)


def drive(make, steps):
    g = make(3)
    out = []
    for step, argument in steps:
        try:
            out.append(getattr(g, step)(*argument))
        except BaseException as e:
            out.append((type(e).__name__, str(e), getattr(e, "value", None)))
    return out, g.gi_frame and g.gi_frame.f_lineno, g.gi_running, g.gi_yieldfrom is not None


def infinite():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def reentrant():
    def g():
        yield 1
        next(me)

    me = g()
    next(me)
    try:
        next(me)
    except ValueError as e:
        return str(e)


def stop_inside():
    def g():
        yield 1
        raise StopIteration("x")

    try:
        return list(g())
    except RuntimeError as e:
        return str(e), repr(e.__cause__)


def expression():
    return list(x * y for x in range(4) if x % 2 for y in (x, -x)), sum(i for i in range(100))


class Awaitable:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        got = yield self.value
        return (self.value, got)


async def coroutine(n):
    total = []
    for i in range(n):
        total.append(await Awaitable(i))
    return total


async def ticks(n):
    for i in range(n):
        try:
            yield i
            await asyncio.sleep(0)
        finally:
            print("tick end", i)


class Manager:
    async def __aenter__(self):
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, kind, value, tb):
        print("aexit", kind and kind.__name__)
        return kind is LookupError


async def main(n):
    out = [i async for i in ticks(n) if i % 2]
    async for i in ticks(n):
        if i == 1:
            break
    async with Manager():
        raise LookupError
    try:
        async with Manager():
            await asyncio.wait_for(asyncio.sleep(10), 0.001)
    except asyncio.TimeoutError:
        out.append("timeout")

    async def one(i):
        for _ in range(i):
            await asyncio.sleep(0)
        return i * i

    out.append(await asyncio.gather(*(one(i) for i in range(5))))
    task = asyncio.ensure_future(one(100))
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        out.append("cancelled")
    return out


def run_coroutine():
    c = coroutine(3)
    out = [c.send(None)]
    for i in "abc":
        try:
            out.append(c.send(i))
        except StopIteration as e:
            out.append(e.value)
    return out


for turn in range(3):
    for make in counter, delegate:
        print(drive(make, [("__next__", ())] * 6))
        print(drive(make, [("send", (1,)), ("send", (None,)), ("send", (9,)), ("close", ())]))
        print(drive(make, [("__next__", ()), ("throw", (ValueError("v"),)), ("__next__", ()),
                           ("__next__", ())]))
        print(drive(make, [("throw", (TypeError("early"),)), ("__next__", ())]))
        print(drive(make, [("__next__", ()), ("throw", (OSError("late"),)), ("send", (1,))]))
        print(drive(make, [("close", ()), ("__next__", ())]))
    g = infinite()
    print([next(g) for _ in range(20)], g.gi_frame.f_locals)
    print(reentrant(), stop_inside(), expression())
    print(run_coroutine())
    print(asyncio.run(main(4)))
