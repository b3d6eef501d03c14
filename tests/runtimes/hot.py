"""Loops, calls, objects and dictionaries: what a Python JIT compiles first."""


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def length(self):
        return (self.x * self.x + self.y * self.y) ** 0.5


def total(n):
    s = 0
    for i in range(n):
        s = (s + i * 7) % 1000003
    return s


def lengths(n):
    s = 0.0
    for i in range(n):
        s += Point(i, n - i).length()
    return s


def words(n):
    counts = {}
    for i in range(n):
        word = "w" + str(i % 97)
        counts[word] = counts.get(word, 0) + 1
    return len(counts)


result = 0.0
for _ in range(20):
    result += total(20000) + lengths(2000) + words(2000)
print(round(result, 3))
