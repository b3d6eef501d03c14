# Attributes and operators of every type with every other one.
import sys
sys.path.pop(0)  # numbers.py beside this one is not the one that decimal wants
import enum, dataclasses, typing, decimal, fractions, functools, abc, types, weakref, copy


@dataclasses.dataclass(order=True)
class P:
    x: int
    y: float = 1.5
    z: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class F:
    x: int
    y: int = 2


class E(enum.Enum):
    A = 1
    B = 2

    @property
    def twice(self):
        return self.value * 2


class IF(enum.IntFlag):
    R = 1
    W = 2


class NT(typing.NamedTuple):
    a: int
    b: str = 'q'


class Desc:

    def __get__(self, o, t):
        return ('get', o is None)

    def __set__(self, o, v):
        o.__dict__['dv'] = v


class ND:

    def __get__(self, o, t):
        return 'nd'


class H:
    d = Desc()
    n = ND()
    cls = classmethod(lambda c: c.__name__)
    st = staticmethod(lambda: 'st')

    @functools.cached_property
    def cp(self):
        return [1]

    @property
    def pr(self):
        return self._p

    @pr.setter
    def pr(self, v):
        self._p = v

    @pr.deleter
    def pr(self):
        del self._p


class Sl:
    __slots__ = ('a', 'b', '__dict__')


class SubSl(Sl):
    __slots__ = ('c',)


class Ga:

    def __getattribute__(self, n):
        if n == 'x':
            return 1
        return object.__getattribute__(self, n)


class Sa:

    def __setattr__(self, n, v):
        object.__setattr__(self, n, v * 2)

    def __delattr__(self, n):
        print('del', n)


class Ab(abc.ABC):

    @abc.abstractmethod
    def f(self):
        ...


class Cn(Ab):

    def f(self):
        return super().f() or 'cn'


class Call:

    def __call__(self, *a, **k):
        return (a, k)


class Op:

    def __init__(self, v):
        self.v = v

    def __add__(self, o):
        return NotImplemented if isinstance(o, str) else Op(self.v + getattr(o, 'v', o))

    def __radd__(self, o):
        return ('radd', o)

    def __iadd__(self, o):
        self.v += 100
        return self

    def __eq__(self, o):
        return self.v == getattr(o, 'v', o)

    def __lt__(self, o):
        return NotImplemented

    def __bool__(self):
        return self.v > 2

    def __contains__(self, x):
        return x == self.v

    def __getitem__(self, k):
        if type(k) is int and k > 5:
            raise IndexError
        return ('item', k)

    def __setitem__(self, k, v):
        self.v = (k, v)

    def __delitem__(self, k):
        self.v = 0

    def __len__(self):
        return 4

    def __index__(self):
        return 2

    def __neg__(self):
        return 'neg'

    def __hash__(self):
        return 5

    def __matmul__(self, o):
        return 'mat'

    def __pow__(self, o, m=None):
        return 'pow'

    def __format__(self, s):
        return 'fmt' + s


class SubOp(Op):

    def __radd__(self, o):
        return 'subradd'


class MyInt(int):

    def __add__(self, o):
        return 'myadd'

    def __eq__(self, o):
        return 'myeq'
    __hash__ = int.__hash__


class MyFloat(float):

    def __mul__(self, o):
        return 'mymul'


class MyStr(str):

    def __iadd__(self, o):
        return 'myiadd'


class MyList(list):

    def __getitem__(self, i):
        return ('my', i)


class MyDict(dict):

    def __missing__(self, k):
        return ('missing', k)


class MyTuple(tuple):

    def __getitem__(self, i):
        return ('mt', i)


def tryit(f, *a):
    try:
        return f(*a)
    except Exception as e:
        return type(e).__name__ + ': ' + str(e)[:90]


def attrs(o):
    r = []
    for i in range(3):
        for f in (lambda: o.x, lambda: o.y, lambda: o.d, lambda: o.n, lambda: o.cls(), lambda: o.st(), lambda: o.cp, lambda: o.pr, lambda: o.a, lambda: o.b, lambda: o.c, lambda: o.f(), lambda: o.v, lambda: o.value, lambda: o.twice, lambda: o.zz, lambda: o.__class__.__name__, lambda: o.__doc__ and 1, lambda: o.real, lambda: o.append, lambda: o.__dict__):
            v = tryit(f)
            r.append(v if ' at 0x' not in str(v) else 'obj')
        for f in (lambda: setattr(o, 'x', i), lambda: setattr(o, 'pr', i), lambda: setattr(o, 'a', i), lambda: setattr(o, 'd', i), lambda: setattr(o, 'n', i)):
            r.append(tryit(f))

    def st():
        o.zz = 5
        o.x = 7
        o.x += 1
        del o.zz
        return o.x
    r.append(tryit(st))
    r.append(tryit(st))
    return r


for mk in (lambda: P(1), lambda: F(1), lambda: E.A, lambda: IF.R | IF.W, lambda: NT(1), H, Sl, SubSl, Ga, Sa, Cn, Call, lambda: Op(1), lambda: 5, lambda: 1.5, lambda: 's', lambda: [1], lambda: None, lambda: P, lambda: E, lambda: sys.implementation, lambda: types.SimpleNamespace(x=1), lambda: decimal.Decimal('1.5'), lambda: fractions.Fraction(1, 3), lambda: functools.partial(int, '5'), lambda: weakref.proxy(KEEP), lambda: super(SubSl, SubSl()), lambda: 3 + 4j):
    KEEP = P(1)
    print(attrs(mk()))


def ops(a, b):
    r = []
    for i in range(3):
        for f in (lambda: a + b, lambda: b + a, lambda: a - b, lambda: a * b if not any((type(v) is int and abs(v) > 999 for v in (a, b))) or all((isinstance(v, (int, float)) for v in (a, b))) else 0, lambda: a / b, lambda: a // b, lambda: a % b, lambda: a ** b if not (isinstance(b, int) and abs(b) > 999) else 0, lambda: a @ b, lambda: a & b, lambda: a | b, lambda: a ^ b, lambda: a << b if not (isinstance(b, int) and b > 999) else 0, lambda: a >> b, lambda: a < b, lambda: a == b, lambda: a != b, lambda: a >= b, lambda: a in b, lambda: a is b, lambda: -a, lambda: ~a, lambda: not a, lambda: a[b], lambda: a[0], lambda: a[-1:], lambda: f'{a:>4}', lambda: a and b, lambda: 1 if a else 2, lambda: [*a], lambda: len(a), lambda: [1, 2, 3, 4][a], lambda: (1, 2, 3)[a], lambda: 'abc'[a], lambda: {1: 2}[a], lambda: abs(a), lambda: a.__class__.__name__):
            v = tryit(f)
            r.append(repr(v)[:60] if ' at 0x' not in repr(v) else type(v).__name__)

    def aug(x, y):
        x += y
        return x

    def aug2(x, y):
        x -= y
        x = x
        return x
    r.append(repr(tryit(aug, copy.copy(a), b))[:60].split(' at 0x')[0])
    r.append(repr(tryit(aug2, copy.copy(a), b))[:60].split(' at 0x')[0])
    return r


vals = [3, -7, 0, True, 2 ** 31, 2 ** 62, -2 ** 63, 2 ** 64, 1.5, -0.0, float('nan'), float('inf'), 'ab', '', [1, 2], (1, 2), {1: 2}, {1}, None, Op(3), SubOp(1), MyInt(3), MyFloat(2.5), MyStr('s'), MyList([1]), MyDict(), MyTuple((1,)), 2j, b'b', range(3), E.A, decimal.Decimal('2.5'), fractions.Fraction(1, 2)]
import hashlib
for a in vals:
    for b in vals:
        r = ops(a, b)
        print(type(a).__name__, type(b).__name__, hashlib.md5(str(r).encode()).hexdigest()[:10], r[0], r[14])
