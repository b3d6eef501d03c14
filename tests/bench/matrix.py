"""Matrices as lists of lists: products, elimination, a determinant, an integer power.

Usage: matrix.py [SIDE]; 14 in the tests
"""

import sys


def make(side, seed):
    state = seed
    rows = []
    for _ in range(side):
        row = []
        for _ in range(side):
            state = (state * 16807) % 2147483647
            row.append(state / 2147483647.0 - 0.5)
        rows.append(row)
    return rows


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def product_by_index(a, b):
    n, m, k = len(a), len(b[0]), len(b)
    result = [[0.0] * m for _ in range(n)]
    for i in range(n):
        row = a[i]
        target = result[i]
        for j in range(m):
            total = 0.0
            for t in range(k):
                total += row[t] * b[t][j]
            target[j] = total
    return result


def solve(a, b):
    """Gauss with partial pivoting; returns the solution and the determinant."""
    n = len(a)
    rows = [row[:] + [value] for row, value in zip(a, b)]
    determinant = 1.0
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            determinant = -determinant
        top = rows[k]
        determinant *= top[k]
        for i in range(k + 1, n):
            row = rows[i]
            factor = row[k] / top[k]
            if factor:
                for j in range(k, n + 1):
                    row[j] -= factor * top[j]
    x = [0.0] * n
    for i in range(n - 1, -1, -1):
        known = sum(rows[i][j] * x[j] for j in range(i + 1, n))
        x[i] = (rows[i][n] - known) / rows[i][i]
    return x, determinant


def integer_power(matrix, exponent, modulus):
    n = len(matrix)
    result = [[int(i == j) for j in range(n)] for i in range(n)]
    while exponent:
        if exponent & 1:
            result = [
                [sum(a * b for a, b in zip(row, column)) % modulus for column in zip(*matrix)]
                for row in result
            ]
        matrix = [
            [sum(a * b for a, b in zip(row, column)) % modulus for column in zip(*matrix)]
            for row in matrix
        ]
        exponent >>= 1
    return result


def main(side=230):
    a, b = make(side, 42), make(side, 4711)
    c = product(a, b)
    d = product_by_index(a, b)
    print(sum(map(sum, c)).hex(), c == d)
    x, determinant = solve(a, c[0])
    print(x[0].hex(), x[-1].hex(), determinant.hex())
    steps = [[(i * j + i + 1) % 10 for j in range(6)] for i in range(6)]
    print(*(row[0] for row in integer_power(steps, 10 ** (side // 2), 1000000007)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
