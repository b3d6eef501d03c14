"""The chaos game on a spline: float vectors as objects with operators, then a pixel count.

A point jumps about a closed B-spline, pulled toward random places of it; where it lands
is counted on a grid. The random numbers are our own, so that every Python agrees.

Usage: chaos.py [POINTS]; 6000 in the tests
"""

import sys


class Random:
    """A linear congruential generator, 32 bits of state."""

    def __init__(self, seed):
        self.state = seed

    def integer(self, below):
        self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
        return (self.state >> 8) % below

    def real(self):
        return self.integer(1 << 24) / (1 << 24)


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def distance(self, other):
        d = self - other
        return (d.x * d.x + d.y * d.y) ** 0.5

    def __repr__(self):
        return f"Vector({self.x!r}, {self.y!r})"


class Spline:
    """A closed curve through control points, by de Boor's recursion."""

    def __init__(self, points, degree=3):
        self.points = points
        self.degree = degree

    def __len__(self):
        return len(self.points)

    def point_at(self, t):
        """The point at t, 0 <= t < len(self)."""
        degree = self.degree
        interval = int(t)
        count = len(self.points)
        work = [
            self.points[(interval + i) % count]
            for i in range(degree + 1)
        ]
        for level in range(1, degree + 1):
            for i in range(degree - level + 1):
                low = interval + i + level - degree
                high = interval + i + 1
                share = (t - low) / (high - low)
                work[i] = work[i] * (1.0 - share) + work[i + 1] * share
        return work[0]


class Game:
    def __init__(self, splines, side, random):
        self.splines = splines
        self.side = side
        self.random = random
        self.grid = [[0] * side for _ in range(side)]

    def jump(self, point):
        spline = self.splines[self.random.integer(len(self.splines))]
        target = spline.point_at(self.random.real() * len(spline))
        if target.distance(point) < 1e-6:
            return target
        return point * 0.4 + target * 0.6

    def mark(self, point):
        column = int(point.x * self.side)
        row = int(point.y * self.side)
        if 0 <= column < self.side and 0 <= row < self.side:
            self.grid[row][column] += 1

    def play(self, points):
        point = Vector(0.5, 0.5)
        for _ in range(points):
            point = self.jump(point)
            self.mark(point)
        return point


def main(points=170000):
    splines = [
        Spline([Vector(0.1, 0.1), Vector(0.9, 0.2), Vector(0.8, 0.9), Vector(0.2, 0.7)]),
        Spline([Vector(0.5, 0.05), Vector(0.95, 0.5), Vector(0.5, 0.95), Vector(0.05, 0.5)]),
        Spline([Vector(0.3, 0.3), Vector(0.7, 0.3), Vector(0.5, 0.8)]),
    ]
    game = Game(splines, 64, Random(2023))
    last = game.play(points)
    hit = sum(1 for row in game.grid for cell in row if cell)
    checksum = 0
    for row in game.grid:
        for cell in row:
            checksum = (checksum * 31 + cell) % 1000000007
    print(points, hit, checksum)
    print(last)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
