# Comparisons in a chain: a value is kept where the next result would go.
g1 = 5


def h(n):
    a = 30
    b = g1
    c = 0
    for i in range(n):
        v = b < abs(abs(-7)) % a <= b
        if v:
            c += 1
    return (c, v)


for k in range(12):
    print(h(90))


def h2(n):
    b = 5
    c = 0
    for i in range(n):
        v = b < 7 <= b
        w = 3 < b < 9
        if v:
            c += 1
        if w:
            c += 100
    return (c, v, w)


for k in range(3):
    print(h2(90), h2(1500))
