"""N queens three ways: bit masks, lists of flags, and a generator over permutations.

Usage: nqueens.py [N]; 6 in the tests
"""

import sys


def by_bits(n, columns=0, left=0, right=0):
    full = (1 << n) - 1
    if columns == full:
        return 1
    count = 0
    free = full & ~(columns | left | right)
    while free:
        bit = free & -free
        free ^= bit
        count += by_bits(n, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


class Board:
    def __init__(self, n):
        self.n = n
        self.columns = [False] * n
        self.rising = [False] * (2 * n - 1)
        self.falling = [False] * (2 * n - 1)
        self.queens = []
        self.first = None

    def place(self, row=0):
        if row == self.n:
            if self.first is None:
                self.first = self.queens[:]
            return 1
        count = 0
        for column in range(self.n):
            rising = row + column
            falling = row - column + self.n - 1
            if self.columns[column] or self.rising[rising] or self.falling[falling]:
                continue
            self.columns[column] = self.rising[rising] = self.falling[falling] = True
            self.queens.append(column)
            count += self.place(row + 1)
            self.queens.pop()
            self.columns[column] = self.rising[rising] = self.falling[falling] = False
        return count


def permutations(items):
    if len(items) <= 1:
        yield items
        return
    for i, item in enumerate(items):
        for rest in permutations(items[:i] + items[i + 1 :]):
            yield (item,) + rest


def by_permutations(n):
    return sum(
        len({row + column for row, column in enumerate(queens)}) == n
        and len({row - column for row, column in enumerate(queens)}) == n
        for queens in permutations(tuple(range(n)))
    )


def main(n=10):
    board = Board(n)
    print(by_bits(n + 1), board.place(), by_permutations(n - 1))
    print(*board.first)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
