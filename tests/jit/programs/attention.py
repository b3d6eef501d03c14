# Signals, threads, asynchronous exceptions, forks and collections in the middle of loops.
import ctypes
import gc
import os
import signal
import sys
import threading
import time


def spin_until(box):
    n = 0
    while not box:
        n += 1
    return box[0]


def signals():
    box = []

    def handler(number, frame):
        box.append(frame.f_code.co_name in ("spin_until", "<module>", "signals"))

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    return spin_until(box)


def raising():
    def handler(number, frame):
        raise TimeoutError("alarm")

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        spin_until([])
    except TimeoutError as e:
        names = []
        tb = e.__traceback__
        while tb:
            names.append(tb.tb_frame.f_code.co_name)
            tb = tb.tb_next
        return str(e), names


def threads():
    box = []

    def worker(i):
        total = 0
        for k in range(20000):
            total += k % 7
        with lock:
            box.append((i, total))

    lock = threading.Lock()
    all_ = [threading.Thread(target=worker, args=(i,)) for i in range(4)]
    for t in all_:
        t.start()
    for t in all_:
        t.join()
    return sorted(box)


def released():
    # A thread that spins lets another one in.
    box = []

    def later():
        time.sleep(0.02)
        box.append("let in")

    t = threading.Thread(target=later)
    t.start()
    value = spin_until(box)
    t.join()
    return value


def asynchronous():
    out = []
    ready = []

    def victim():
        try:
            ready.append(threading.get_ident())
            spin_until([])
        except KeyError as e:
            out.append("killed")

    t = threading.Thread(target=victim)
    t.start()
    while not ready:
        time.sleep(0.001)
    time.sleep(0.02)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ready[0]), ctypes.py_object(KeyError))
    t.join()
    return out


def forks():
    out = []
    for i in range(5):
        total = 0
        for k in range(1000):
            total += k
            if k == 500:
                pid = os.fork()
                if pid == 0:
                    for m in range(1000):
                        total += m
                    os._exit(total % 200)
        out.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        out.append(total)
    return out


def collections_():
    class Node:
        def __init__(self, other):
            self.other = other

        def __del__(self):
            died.append(1)

    died = []
    old = gc.get_threshold()
    gc.set_threshold(10)
    for i in range(200):
        a = Node(None)
        b = Node(a)
        a.other = b
        del a, b
    gc.set_threshold(*old)
    gc.collect()
    return len(died)


def in_del():
    # Finalizers that raise, recurse and change what is running.
    class D:
        def __del__(self):
            if depth[0] < 3:
                depth[0] += 1
                D()
            work(3)

    def work(n):
        return sum(i for i in range(n))

    depth = [0]
    total = 0
    for i in range(20):
        D()
        total += work(i)
    return total, depth


def switch_interval():
    old = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        return threads()
    finally:
        sys.setswitchinterval(old)


for turn in range(3):
    print(signals(), raising())
    print(threads(), released(), asynchronous())
    print(forks())
    print(collections_(), in_del(), switch_interval())
