# Identity with what loops take for constant, over mixed items.


class A:
    pass


class B:
    pass


NT = A


def mk():
    ns = {}
    exec('def c(bases):\n    n = 0\n    for base in bases:\n        if base is NT: n += 1\n    return n', globals(), ns)
    return ns['c']


print(mk()((A, B) * 2000), mk()([A, B] * 2000), mk()((A,) * 2000), mk()([B, A] * 2000))
NT = B
print(mk()((A, B) * 2000), mk()([A, B] * 2000), mk()([B] * 2000), mk()([B, A] * 2000))
NT, GE = (A, B)


def c1(bases):
    n = 0
    for base in bases:
        if base is NT:
            n += 1
    return n


def c2(bases):
    n = 0
    for base in bases:
        if base is not NT:
            n += 1
    return n


def c3(bases):
    n = 0
    for base in bases:
        if base is NT or base is GE:
            n += 1
    return n


def c4(bases):
    n = 0
    for base in bases:
        x = base is not NT
        if x:
            n += 1
    return n


for c in (c1, c2, c3, c4):
    print(c.__name__, c((A, B) * 2000))
