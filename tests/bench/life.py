"""Conway's life twice: on a set of cells without borders, and on a torus of lists.

Usage: life.py [GENERATIONS]; 12 in the tests
"""

import sys

ACORN = ((0, 0), (1, 0), (1, -2), (3, -1), (4, 0), (5, 0), (6, 0))


def step(cells):
    neighbours = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    place = (x + dx, y + dy)
                    neighbours[place] = neighbours.get(place, 0) + 1
    return {
        place
        for place, count in neighbours.items()
        if count == 3 or (count == 2 and place in cells)
    }


class Torus:
    def __init__(self, side):
        self.side = side
        self.rows = [[0] * side for _ in range(side)]

    def put(self, cells):
        middle = self.side // 2
        for x, y in cells:
            self.rows[(y + middle) % self.side][(x + middle) % self.side] = 1

    def step(self):
        side = self.side
        rows = self.rows
        result = []
        for y in range(side):
            above, row, below = rows[y - 1], rows[y], rows[(y + 1) % side]
            new = []
            for x in range(side):
                left, right = x - 1, (x + 1) % side
                count = (
                    above[left] + above[x] + above[right]
                    + row[left] + row[right]
                    + below[left] + below[x] + below[right]
                )
                new.append(1 if count == 3 or (count == 2 and row[x]) else 0)
            result.append(new)
        self.rows = result

    def alive(self):
        return sum(map(sum, self.rows))


def main(generations=600):
    cells = set(ACORN)
    for _ in range(generations):
        cells = step(cells)
    print(len(cells), min(cells), max(cells))
    torus = Torus(64)
    torus.put(ACORN)
    for _ in range(generations):
        torus.step()
    print(torus.alive(), sum(i * sum(row) for i, row in enumerate(torus.rows)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
