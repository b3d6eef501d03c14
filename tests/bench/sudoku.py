"""A sudoku solver: constraint propagation over sets of candidates, and search.

Usage: sudoku.py [ROUNDS]; 3 in the tests
"""

import sys

PUZZLES = (
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3..",
    "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9",
)


class Contradiction(Exception):
    pass


class Grid:
    """Candidates of each cell as a bit mask; peers as tuples of cell numbers."""

    peers = []
    units = []

    def __init__(self, cells=None):
        self.cells = [0x1FF] * 81 if cells is None else cells

    @classmethod
    def prepare(cls):
        rows = [tuple(range(r * 9, r * 9 + 9)) for r in range(9)]
        columns = [tuple(range(c, 81, 9)) for c in range(9)]
        boxes = [
            tuple(r * 9 + c for r in range(br, br + 3) for c in range(bc, bc + 3))
            for br in (0, 3, 6)
            for bc in (0, 3, 6)
        ]
        cls.units = rows + columns + boxes
        for cell in range(81):
            mine = [unit for unit in cls.units if cell in unit]
            cls.peers.append(tuple(sorted({p for unit in mine for p in unit} - {cell})))

    @classmethod
    def parse(cls, text):
        grid = cls()
        for cell, letter in enumerate(text):
            if letter != ".":
                grid.assign(cell, 1 << (int(letter) - 1))
        return grid

    def assign(self, cell, bit):
        if not self.cells[cell] & bit:
            raise Contradiction(cell)
        self.cells[cell] = bit
        todo = [cell]
        while todo:
            known = todo.pop()
            value = self.cells[known]
            for peer in self.peers[known]:
                candidates = self.cells[peer]
                if candidates & value:
                    candidates &= ~value
                    if not candidates:
                        raise Contradiction(peer)
                    self.cells[peer] = candidates
                    if not candidates & (candidates - 1):
                        todo.append(peer)

    def place_hidden(self):
        """Assigns values that fit only one cell of a unit; whether it found any."""
        found = False
        for unit in self.units:
            once = twice = 0
            for cell in unit:
                candidates = self.cells[cell]
                twice |= once & candidates
                once |= candidates
            if once != 0x1FF:
                raise Contradiction(unit)
            for cell in unit:
                candidates = self.cells[cell]
                alone = candidates & once & ~twice
                if alone and candidates & (candidates - 1):
                    self.assign(cell, alone & -alone)
                    found = True
        return found

    def narrowest(self):
        best = None
        fewest = 10
        for cell, candidates in enumerate(self.cells):
            count = candidates.bit_count()
            if 1 < count < fewest:
                best, fewest = cell, count
                if count == 2:
                    break
        return best

    def __str__(self):
        return "".join(str(candidates.bit_length()) for candidates in self.cells)


class Solver:
    def __init__(self):
        self.guesses = 0
        self.dead_ends = 0

    def solve(self, grid):
        while grid.place_hidden():
            pass
        cell = grid.narrowest()
        if cell is None:
            return grid
        candidates = grid.cells[cell]
        while candidates:
            bit = candidates & -candidates
            candidates ^= bit
            self.guesses += 1
            attempt = Grid(grid.cells[:])
            try:
                attempt.assign(cell, bit)
                return self.solve(attempt)
            except Contradiction:
                self.dead_ends += 1
        raise Contradiction(cell)


def main(rounds=800):
    Grid.prepare()
    for puzzle in PUZZLES:
        for _ in range(rounds):
            solver = Solver()
            solution = solver.solve(Grid.parse(puzzle))
        print(solution, solver.guesses, solver.dead_ends)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
