# Loops over numbers, for the optimising tier: types that change, overflow, exits of all kinds.


def overflow(n):
    a, b = 1, 0
    for i in range(n):
        a = a * 3 + i
        b += a & 0xFFFF
    return a, b


def int_then_float(n):
    total = 0
    for i in range(n):
        if i == n // 2:
            total = total + 0.5
        total += i
    return total


def float_then_int(n):
    x = 0.0
    for i in range(n):
        x = x + 1 if i < n - 3 else i
    return x


def unbound_after(n):
    for i in range(n):
        last = i * 2
    try:
        return last, i
    except UnboundLocalError as e:
        return str(e)


def names_after(n):
    for i in range(n):
        square = i * i
        if square > 50:
            extra = -square
    return sorted(locals().items())


def divides(values, n):
    done = 0
    try:
        for i in range(n):
            done += 100 // values[i]
            done = done % 1000003
    except ZeroDivisionError as e:
        return done, i, str(e)
    except IndexError as e:
        return done, i, str(e)
    return done, i


def negative(n):
    out = 0
    for i in range(-n, n):
        out += (i // 7) * 3 + i % 7 - (i % -5) + (i // -3) + (i >> 2) + (i & 12) - (i | 3) + (~i ^ 6)
    return out


def shifts(n):
    x, y = 1, 0
    for i in range(n):
        x = (x << 3) ^ i
        if x > 1 << 40:
            x >>= 35
        y += x
    return x, y


def elements(n):
    ints = list(range(n))
    floats = [i / 3 for i in range(n)]
    flags = [i % 3 == 0 for i in range(n)]
    rows = [[i * j for j in range(5)] for i in range(n)]
    pairs = tuple(range(n))
    total, real, count = 0, 0.0, 0
    for i in range(n):
        ints[i] = ints[i] * 2 + pairs[-1 - i]
        floats[i] += floats[i - 1] * 0.5
        total += ints[i] + rows[i][i % 5]
        rows[i][2] = total
        real += floats[i]
        if flags[i]:
            count += 1
            flags[i] = False
    return total, real.hex(), count, ints, [f.hex() for f in floats], flags, rows


def mixed_elements(n):
    values = [1] * n
    values[n - 2] = 2.5
    values[n - 1] = "s"
    total = 0
    try:
        for i in range(n):
            total += values[i]
    except TypeError as e:
        return total, i, str(e)


def compares(n):
    out = [0] * 12
    nan = float("nan")
    big = 2**53
    for i in range(n):
        x = i * 0.5
        if x < i:
            out[0] += 1
        if x <= i:
            out[1] += 1
        if x == i:
            out[2] += 1
        if x != i:
            out[3] += 1
        if not x > 3:
            out[4] += 1
        if nan < x:
            out[5] += 1
        if not nan >= x:
            out[6] += 1
        if nan != nan:
            out[7] += 1
        if (big + i) == float(big + i):
            out[8] += 1
        if 1 < i < 7:
            out[9] += 1
        if x and i or not x:
            out[10] += 1
        out[11] += (i > 3) + (x > 3.5)
    return out


def element_of(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def scaled(x, by):
    y = x * by
    return y - x / 2


def calls(n):
    def inner(a):
        b = a * 0.25
        return -b + 1

    total = 0.0
    for i in range(n):
        total += element_of(i, 3) * inner(i) + abs(scaled(total, 0.5)) - abs(-i)
    return total.hex()


def division_in_call(n):
    def one_over(x):
        return 1 / x

    total = 0
    try:
        for i in range(n, -2, -1):
            total += one_over(i)
    except ZeroDivisionError as e:
        tb = e.__traceback__
        names = []
        while tb:
            names.append((tb.tb_frame.f_code.co_name, tb.tb_lineno - tb.tb_frame.f_code.co_firstlineno))
            tb = tb.tb_next
        return total, i, names


def function_changes(n):
    def f(x):
        return x + 1

    def g(x):
        return x * 2

    out = []
    for turn in range(4):
        total = 0
        for i in range(n):
            total += f(i)
        out.append(total)
        if turn == 1:
            f.__code__ = g.__code__
    return out


def global_changes(n):
    global element_of
    out = []
    saved = element_of
    for turn in range(3):
        total = 0
        for i in range(n):
            total += element_of(i, 1)
        out.append(total)
        element_of = lambda i, j: i - j
    element_of = saved
    return out


def nested(n):
    out = []
    total = 0
    for i in range(n):
        for j in range(i, n, 2):
            if (i + j) % 5 == 3:
                continue
            k = j
            while k > 1:
                k //= 2
                total += k
                if total % 97 == 11:
                    break
            else:
                total += 1
    for a in range(3):
        for b in range(0):
            total += 1
        for c in range(5, 0, -2):
            total += c * a
    return total, i, j, k, a, c


def early(n, limit):
    x = 0.0
    for turn in range(n):
        x = x * x + 0.3
        if x > limit:
            return turn, x
    return x


def big_range(n):
    total = 0
    for i in range(2**62, 2**62 + n):
        total += i & 1
    for i in range(2**70, 2**70 + n):
        total += i & 1
    return total


def swap(n):
    a, b, c = 0, 1, 2
    for i in range(n):
        a, b, c = b, c, (a + b + c) % 1000
        if i % 3:
            a, b = b, a
    return a, b, c


def gcds(n):
    total = 0
    for a in range(1, n):
        b, c = a, n
        while b:
            c, b = b, c % b
        total += c
    return total


class Noisy:
    log = []

    def __del__(self):
        Noisy.log.append("gone")


def object_locals(n):
    thing = Noisy()
    rows = [[i] for i in range(n)]
    total = 0
    for i in range(n):
        row = rows[i]
        total += row[0]
        if i == n // 2:
            thing = total
    return total, thing, Noisy.log


def powers(n):
    total = 0.0
    for i in range(1, n):
        x = i * 0.1
        total += x ** 0.5 + x ** -1.5 + x ** 2
    return total.hex()


def bools(n):
    seen = False
    last = True
    for i in range(n):
        seen = i > 5
        last = not seen
    return seen, last, type(seen).__name__


class Slotted:
    __slots__ = ("x", "v", "n", "other")

    def __init__(self, x):
        self.x, self.v, self.n = x, 1.0 / (x + 1), 0


class Plain:
    def __init__(self, x):
        self.x, self.v, self.n = x, 1.0 / (x + 1), 0


def attributes(kind, n):
    things = [kind(i * 0.5) for i in range(5)]
    pairs = [(a, b) for i, a in enumerate(things) for b in things[i + 1:]]
    kept = things[0].x
    for turn in range(n):
        for a, b in pairs:
            d = a.x - b.x
            a.v -= d * 0.001
            b.v += d * 0.001
            a.n += 1
        for t in things:
            t.x += t.v * 0.01
            if t.x > 3.0:
                t.x = 0.0
    return kept, [(t.x, t.v, t.n) for t in things]


def attributes_change(kind, n):
    out = []
    t = kind(1.0)
    for turn in range(6):
        try:
            for i in range(n):
                t.x = t.x + i
                t.n += 1
        except (AttributeError, TypeError) as e:
            out.append(str(e))
        x = getattr(t, "x", None)
        out.append((x, t.n, type(x).__name__))
        if turn == 1:
            t.x = 5
        if turn == 2:
            t.n = 2**80
        if turn == 3:
            t.n = "text"
        if turn == 4:
            t = kind(2.0)
            del t.x
    return out


def property_appears(n):
    class P:
        def __init__(self):
            self.x = 1.0

    p, out = P(), []
    for turn in range(3):
        total = 0.0
        for i in range(n):
            total += p.x
        out.append(total)
        P.x = property(lambda self: 2.0)
    return out


def lists(n):
    ints, floats, words = list(range(n)), [i * 0.5 for i in range(n)], ["a"] * n
    out = []
    for turn in range(4):
        total = 0
        for v in ints:
            total += v
        real = 0.0
        for v in floats:
            real += v
            if v > 100:
                break
        count = 0
        for w in words:
            count += 1
        for v in floats:
            for u in ints:
                count += u
                if u > 3:
                    break
        out.append((total, real, count, v, u, w))
        if turn == 1:
            ints[n // 2] = 2.5
            floats[-1] = 7
        if turn == 2:
            ints[n // 3] = 2**90
    grows = [1]
    for v in grows:
        if len(grows) < n:
            grows += [v + 1]
    return out, sum(grows)


def drop_negative_zero(n):
    x = 0.0
    for i in range(n):
        x = -x * 1.0
    return repr(x), repr(0.0 * -n)


for turn in range(4):
    for n in (3, 40, 700, 1500):
        print(n, overflow(n))
        print(int_then_float(n), float_then_int(n), unbound_after(n), names_after(n))
        print(divides([1, 2, 3] * n, n), divides([3] * (n - 2) + [0, 1], n), divides([5], n))
        print(negative(n), shifts(n), mixed_elements(n), compares(n))
        print(hash(str(elements(n))) == hash(str(elements(n))), elements(n)[:3])
        print(calls(n), division_in_call(n), function_changes(n), global_changes(n))
        print(early(n, 0.5), early(n, 1e9), big_range(n), swap(n), powers(n), bools(n))
        print(drop_negative_zero(n), object_locals(n), lists(n), property_appears(n))
        for kind in (Slotted, Plain):
            print(attributes(kind, n), attributes_change(kind, n))
    print(nested(60), gcds(300), unbound_after(0), names_after(0))
