# sys.settrace and sys.setprofile, on from the start and switched on midway.
import sys

events = []


def tracer(frame, event, argument):
    name = frame.f_code.co_name
    if frame.f_code.co_filename == __file__ and name not in ("stop", "start", "<module>"):
        shown = argument
        if event == "exception":
            shown = argument[0].__name__
        elif callable(argument):
            shown = getattr(argument, "__name__", "?")
        events.append((event, name, frame.f_lineno - frame.f_code.co_firstlineno, shown))
    return tracer


def start(which):
    (sys.settrace if which == "trace" else sys.setprofile)(tracer)
    if which == "trace":
        sys._getframe(1).f_trace = tracer


def stop():
    sys.settrace(None)
    sys.setprofile(None)


def work(n):
    total = 0
    for i in range(n):
        if i == 1:
            continue
        try:
            total += 6 // i
        except ZeroDivisionError:
            total -= 1
    return total


def generator(n):
    for i in range(n):
        got = yield i
        if got:
            return got


def uses():
    g = generator(3)
    next(g)
    try:
        g.send("x")
    except StopIteration as e:
        return [x for x in (1, 2)], e.value


def midway(which):
    total = 0
    for i in range(4):
        if i == 1:
            start(which)
        total += work(2)
        if i == 2:
            stop()
    return total


def raises():
    try:
        [][1]
    finally:
        work(1)


def outer(which):
    start(which)
    work(3)
    uses()
    try:
        raises()
    except IndexError:
        pass
    stop()


def jump_over(frame, event, argument):
    if frame.f_code.co_name == "jumped" and event == "line":
        if frame.f_lineno - frame.f_code.co_firstlineno == 3:
            frame.f_lineno += 1
    return jump_over


def jumped():
    x = 1
    y = 2
    x = 50
    return x + y


for turn in range(3):
    for which in ("trace", "profile"):
        print(midway(which))
        for e in events:
            print(" ", *e)
        events.clear()
        outer(which)
        for e in events:
            print(" ", *e)
        events.clear()
    sys.settrace(jump_over)
    value = jumped()
    sys.settrace(None)
    print(value, jumped())
