# Trace and profile functions switched on midway, event by event.
import sys, threading
ev = []


def prof(frame, event, arg):
    if frame.f_code.co_name in ('prof', 'stop'):
        return
    ev.append((event, frame.f_code.co_name, frame.f_lineno, getattr(arg, '__name__', None) if event.startswith('c_') else None))


def tr(frame, event, arg):
    if frame.f_code.co_name == 'stop':
        return None
    ev.append((event, frame.f_code.co_name, frame.f_lineno, repr(arg)[:40] if event in ('return', 'exception') and ' at 0x' not in repr(arg) else None))
    return tr


def leaf(x):
    y = x + 1
    return len([y])


def g(n):
    for i in range(n):
        yield leaf(i)


class C:

    def __init__(self, x):
        self.x = x

    def m(self):
        return self.x

    @property
    def p(self):
        return self.m()

    def __add__(self, o):
        return self.x + o

    def __enter__(self):
        return self

    def __exit__(self, *a):
        return True


def work(n, at, start, stop):
    c = C(1)
    t = 0
    for i in range(n):
        if i == at:
            start()
        if i == at + 2:
            stop()
        t += leaf(i) + c.m() + c.p + (c + 1)
        t += sum(g(2))
        with c:
            if i % 2:
                raise ValueError(i)
        d = [x for x in (1, 2) if x > 1]
        try:
            [][1]
        except IndexError:
            t += 1
        t += sorted([2, 1], key=lambda v: v)[0]
    return t


def s1():
    sys.setprofile(prof)


def stop():
    sys.setprofile(None)
    sys.settrace(None)


def s2():
    sys.settrace(tr)
    sys._getframe(1).f_trace = tr


def s3():
    sys.settrace(tr)


def s4():
    f = sys._getframe(1)
    f.f_trace_opcodes = True
    f.f_trace_lines = False
    f.f_trace = tr
    sys.settrace(tr)


for rep in range(3):
    for s in (s1, s2, s3, s4):
        ev.clear()
        r = work(8, 4, s, stop)
        print(s.__name__, r, len(ev), hash(str(ev)) if 0 else ev[:400])


def jumper():
    out = []
    for i in range(5):
        out.append(i)
        out.append('skipped')
        out.append('end')
    return out


def jt(frame, event, arg):
    if frame.f_code is not jumper.__code__:
        return None
    if event == 'line' and frame.f_lineno == jumper.__code__.co_firstlineno + 4:
        frame.f_lineno += 1
    return jt


print(jumper())
sys.settrace(jt)
r = jumper()
sys.settrace(None)
print(r)


def loc(n):
    a = 1
    t = 0
    for i in range(n):
        t += a
    return t


def lt(frame, event, arg):
    if frame.f_code is loc.__code__:
        if event == 'line' and frame.f_locals.get('i') == 3:
            frame.f_locals['a'] = 100
        return lt


for r in range(3):
    print(loc(6))
    sys.settrace(lt)
    x = loc(6)
    sys.settrace(None)
    print(x)


def bad(frame, event, arg):
    if event == 'line' and frame.f_code is loc.__code__ and (frame.f_locals.get('i') == 2):
        raise KeyError('from tracer')
    return bad


sys.settrace(bad)
try:
    loc(5)
except KeyError as e:
    print('caught', e, sys.gettrace())
finally:
    sys.settrace(None)


def gg():
    for i in range(4):
        yield i


x = gg()
next(x)
ev.clear()
sys.settrace(tr)
list(x)
sys.settrace(None)
print([e for e in ev if e[1] == 'gg'])
x = gg()
next(x)
ev.clear()
sys.setprofile(prof)
list(x)
sys.setprofile(None)
print([e for e in ev if e[1] == 'gg'])


def tramp(n):
    sys.settrace(tr)
    if n:
        tramp(n - 1)
    sys.settrace(None)


ev.clear()
tramp(3)
print(ev)
ev.clear()
threading.setprofile(prof)
t = threading.Thread(target=work, args=(3, 99, s1, stop))
t.start()
t.join()
threading.setprofile(None)
print(len([e for e in ev if e[1] in ('leaf', 'g', 'm', 'p')]))
