# Forks in compiled loops, pools, contexts, asyncio.
import os, sys, multiprocessing, subprocess, contextvars, asyncio, threading, signal, time


def hot(n):
    s = 0
    for i in range(n):
        s += i
        if i == n // 2:
            pid = os.fork()
            if pid == 0:
                me = 'child'
            else:
                os.waitpid(pid, 0)
                me = 'parent'
    print(me, s, flush=True)
    if me == 'child':
        os._exit(0)


hot(2000)


def sq(x):
    t = 0
    for i in range(x):
        t += i
    return t


if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(2) as p:
        print(p.map(sq, range(10)))
    with multiprocessing.get_context('spawn').Pool(1) as p:
        print(p.map(sq, range(10)))
    print(subprocess.run([sys.executable, '-c', 'import sys; print(sys.argv, sys.flags.optimize)'] + ['a'], capture_output=True, text=True).stdout)
    v = contextvars.ContextVar('v', default=0)

    def cv():
        out = []
        for i in range(30):
            tok = v.set(v.get() + 1)
            if i % 2:
                v.reset(tok)
            out.append(v.get())
        return out[-1]
    print(contextvars.copy_context().run(cv), v.get())

    async def child(n, log):
        for i in range(n):
            await asyncio.sleep(0)
            log.append((n, i))
        if n == 3:
            raise ValueError(n)
        return n * 2

    async def agen(n):
        try:
            for i in range(n):
                yield i
                await asyncio.sleep(0)
        finally:
            print('agen closed')

    class CM:

        async def __aenter__(self):
            await asyncio.sleep(0)
            return 5

        async def __aexit__(self, *a):
            await asyncio.sleep(0)
            return a[0] is KeyError

    async def main():
        # However slow the machine is, nothing is said about it.
        asyncio.get_running_loop().slow_callback_duration = 1000
        log = []
        r = await asyncio.gather(*(child(n, log) for n in (1, 2, 3, 4)), return_exceptions=True)
        print(r, log)
        t = 0
        async for x in agen(10):
            t += x
            if x == 7:
                break
        print(t, [x async for x in agen(3)], {x: y async for x, y in pairs()})
        async with CM() as c:
            print(c)
        async with CM():
            raise KeyError
        try:
            async with asyncio.timeout(0.01):
                await asyncio.sleep(10)
        except TimeoutError:
            print('timeout')
        task = asyncio.create_task(child(1000000, log))
        await asyncio.sleep(0.01)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError as e:
            print('cancelled')
        try:
            async with asyncio.TaskGroup() as tg:
                tg.create_task(child(3, log))
                tg.create_task(child(500, log))
        except* ValueError as eg:
            print(eg.exceptions)
        q = asyncio.Queue(2)

        async def prod():
            for i in range(20):
                await q.put(i)
            await q.put(None)

        async def cons():
            s = 0
            while (x := (await q.get())) is not None:
                s += x
            return s
        print((await asyncio.gather(prod(), cons()))[1])
        print(await asyncio.to_thread(sq, 100))

    async def pairs():
        yield (1, 2)
        yield (3, 4)
    asyncio.run(main(), debug=True)
    asyncio.run(main())
    co = child(1, [])
    try:
        co.throw(KeyError('x'))
    except KeyError as e:
        print(repr(e))
    del co

    async def never():
        pass
    import warnings
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter('always')
        x = never()
        del x
        print([str(i.message) for i in w])

    def kid():
        signal.signal(signal.SIGTERM, lambda s, f: sys.exit(7))
        os.write(ready[1], b"x")
        i = 0
        while True:
            i += 1
    ready = os.pipe()
    p = multiprocessing.get_context('fork').Process(target=kid)
    p.start()
    os.read(ready[0], 1)
    p.terminate()
    p.join()
    print(p.exitcode)
