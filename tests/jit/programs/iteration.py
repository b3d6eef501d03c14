# Iteration over everything, also changed underneath; builtins and methods of every type.
import sys, itertools, collections


class It:

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        return self.n


class Sq:

    def __getitem__(self, i):
        if i > 3:
            raise IndexError
        return i


def items():
    yield from [[1, 2], (3, 4), {5: 6}, {7}, 'ab', b'cd', range(3), It(3), Sq(), iter([1]), zip([1], [2]), enumerate('x'), map(str, [1]), filter(None, [0, 1]), reversed([1, 2]), {1: 2}.items(), {1: 2}.values(), {1: 2}.keys(), (x for x in [1]), itertools.count(5), collections.deque([1, 2]), memoryview(b'ab'), array(), open('/dev/null'), frozenset([9]), iter(int, 0), range(2 ** 70, 2 ** 70 + 2)]


def array():
    import array
    return array.array('i', [1, 2])


def go(x):
    out = []
    try:
        for y in x:
            out.append(y)
            if len(out) > 3:
                break
    except Exception as e:
        out.append(repr(e))
    return out


for r in range(3):
    print([go(x) for x in items()])


def grow(l):
    out = 0
    for x in l:
        out += x
        if out < 40:
            l.append(1)
    return (out, len(l))


print([grow([1, 2]) for _ in range(4)])


def shrink(l):
    out = []
    for x in l:
        out.append(x)
        l.pop()
    return out


print([shrink([1, 2, 3, 4, 5]) for _ in range(4)])


def setchg():
    s = {1, 2}
    try:
        for x in s:
            s.add(x + 10)
    except RuntimeError as e:
        return str(e)


print([setchg() for _ in range(3)])


def tup(x):
    t = 0
    for a, (b, c) in x:
        t += a * b + c
    return t


def tupbad(x):
    try:
        return tup(x)
    except Exception as e:
        return repr(e)


print([tupbad(v) for v in ([(1, (2, 3))] * 5, [(1, [2, 3])], [[1, 'ab']], [(1, 2)], [(1, (2, 3, 4))], [(1,)], 5, [(1.5, (2, 3))])] * 2)


def bi(f, *a):
    try:
        return f(*a)
    except Exception as e:
        return repr(e)


class L:

    def __len__(self):
        return -1


class L2:

    def __len__(self):
        return 2 ** 70


class L3:

    def __len__(self):
        return 'x'


class Hash:

    def __hash__(self):
        raise ValueError('h')


def calls(o):
    r = []
    for f in (len, abs, repr, str, int, float, bool, list, tuple, iter, next, type, id, callable, isinstance, ord, chr, sum, max, min, sorted, hex, divmod, round):
        try:
            v = f(o)
            r.append(f.__name__ + ' ' + (type(v).__name__ if f in (id, iter, type, repr, str) or 'object at' in repr(v) or 'iterator' in repr(v) else repr(v)[:50]))
        except Exception as e:
            r.append(f.__name__ + ' ' + type(e).__name__ + str(e)[:60])
    return r


for o in (1, -1.5, 'a', [1, 2], (), {}, None, L(), L2(), L3(), Hash(), object, True, 2 ** 70, b'x', range(5), lambda: 1):
    print(calls(o))


def meth(l, s, d):
    r = []
    r.append(l.append(1))
    r.append(l.pop())
    r.append(s.upper())
    r.append(s.split('a'))
    r.append(d.get('k'))
    r.append(d.get('k', 5))
    r.append(d.setdefault('z', 1))
    r.append(s.startswith('a'))
    r.append(s.find('b', 1))
    r.append(l.index(7))
    r.append(sorted(d.items()))
    r.append(''.join(s))
    r.append(l.copy())
    r.append(d.pop('z'))
    r.append(l.count(7))
    r.append(s.encode())
    r.append(s.replace('a', 'b'))
    r.append(l.extend([1, 2]))
    r.append(l.sort())
    r.append(l.insert(0, 7))
    r.append(l.reverse())
    return (r, l)


for i in range(4):
    print(meth([7, 8], 'banana', {'k': i}))


class LS(list):

    def append(self, x):
        return 'mine'


class SS(str):

    def upper(self):
        return 'MINE'


class DD(dict):

    def get(self, *a):
        return 'mine'


for i in range(4):
    print(meth(LS([7, 8]), SS('banana'), DD(k=1)))


def errs():
    r = []
    for f in (lambda: [].append(), lambda: [].append(1, 2), lambda: len(), lambda: len(1, 2), lambda: ''.join(1), lambda: {}.get(), lambda: {}.get([]), lambda: [].pop(), lambda: [1].pop(5), lambda: isinstance(1), lambda: isinstance(1, 2), lambda: next(iter([])), lambda: int('z'), lambda: ord('ab'), lambda: chr(-1), lambda: sum(['a']), lambda: max(), lambda: max([]), lambda: sorted([1, 'a']), lambda: [].sort(key=1), lambda: 'a'.split(''), lambda: print(1, end=2), lambda: len(x=1), lambda: abs('x'), lambda: list.append([], 1, 2), lambda: list.append(1, 2), lambda: str.upper(1), lambda: dict.get(1, 2), lambda: object().x, lambda: 1 .x, lambda: 'a' + 1, lambda: 1 + 'a', lambda: [] + (), lambda: -'a', lambda: {}[1], lambda: [][0], lambda: ()['a'], lambda: None[0], lambda: 1 < 'a', lambda: 1 in 2):
        try:
            r.append(f())
        except BaseException as e:
            r.append(type(e).__name__ + ': ' + str(e))
    return r


for i in range(3):
    print(*errs(), sep='\n')
