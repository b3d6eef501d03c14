"""Coroutines: ping-pong over queues under asyncio, and under a small scheduler of our own.

Usage: async_ping.py [ROUNDS]; 300 in the tests
"""

import asyncio
import sys
from collections import deque


class Channel:
    """A rendezvous between coroutines of the scheduler below."""

    def __init__(self):
        self.items = deque()
        self.waiting = deque()


class Operation:
    """What a coroutine asks of the scheduler: `await Operation(kind, argument)`."""

    __slots__ = ("kind", "argument", "value")

    def __init__(self, kind, argument, value=None):
        self.kind = kind
        self.argument = argument
        self.value = value

    def __await__(self):
        return (yield self)


async def put(channel, item):
    await Operation("put", channel, item)


async def get(channel):
    return await Operation("get", channel)


class Scheduler:
    def __init__(self):
        self.ready = deque()
        self.switches = 0

    def start(self, coroutine):
        self.ready.append((coroutine, None))

    def run(self):
        while self.ready:
            coroutine, value = self.ready.popleft()
            self.switches += 1
            try:
                operation = coroutine.send(value)
            except StopIteration:
                continue
            self.handle(coroutine, operation)

    def handle(self, coroutine, operation):
        channel = operation.argument
        if operation.kind == "put":
            if channel.waiting:
                self.ready.append((channel.waiting.popleft(), operation.value))
            else:
                channel.items.append(operation.value)
            self.ready.append((coroutine, None))
        elif channel.items:
            self.ready.append((coroutine, channel.items.popleft()))
        else:
            channel.waiting.append(coroutine)


async def player(mine, theirs, rounds, log, serves):
    ball = 0
    if serves:
        await put(theirs, 1)
    for _ in range(rounds):
        ball = await get(mine)
        await put(theirs, ball + 1)
    log.append(ball)


async def numbers(limit):
    for i in range(limit):
        yield i
        if i % 64 == 0:
            await asyncio.sleep(0)


class Gate:
    def __init__(self, queue):
        self.queue = queue
        self.entered = 0

    async def __aenter__(self):
        self.entered += 1
        return self.queue

    async def __aexit__(self, kind, error, traceback):
        return kind is ValueError


async def worker(inbox, outbox):
    total = 0
    while (item := await inbox.get()) is not None:
        total += item
        await outbox.put(item * item % 1009)
    return total


async def under_asyncio(rounds):
    inbox, outbox = asyncio.Queue(16), asyncio.Queue(16)
    gate = Gate(outbox)
    task = asyncio.create_task(worker(inbox, outbox))
    checksum = 0
    async for i in numbers(rounds):
        async with gate as queue:
            await inbox.put(i)
            checksum = (checksum * 31 + await queue.get()) % 1000003
            if i % 10 == 0:
                raise ValueError(i)
    await inbox.put(None)
    squares = [i * i async for i in numbers(100) if i % 3]
    return checksum, await task, gate.entered, sum(squares)


def main(rounds=32000):
    scheduler = Scheduler()
    log = []
    for _ in range(4):
        left, right = Channel(), Channel()
        scheduler.start(player(left, right, rounds, log, True))
        scheduler.start(player(right, left, rounds, log, False))
    scheduler.run()
    print(scheduler.switches, log)
    print(*asyncio.run(under_asyncio(rounds)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
