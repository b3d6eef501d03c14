# Arguments die when the callee drops them, whoever calls: cold code, keywords, C functions.
import sys
class N:
    def __init__(self, n): self.n = n
    def __del__(self): print("del", self.n)
def f(x, *a, **k):
    x = None
    print("dropped")
f(N(1))
f(x=N(2))
f(N(3), N(4), z=N(5))
def g(x): return sys.getrefcount(x)
print(g(N(6)), g(x=N(7)))
o = object()
print(g(o))
class M:
    def m(self, x):
        del self, x
        print("in m")
M().m(N(8))
N(9).__init__(9)
def gen(x):
    del x
    print("gen")
    yield 1
list(gen(N(10)))
def bad(x, y): pass
try: bad(N(11))
except TypeError as e: print(e)
print("end")
from functools import partial
partial(f)(N(12))
partial(f, N(13))(N(14))
sorted([N(15)], key=lambda n: n.n)
