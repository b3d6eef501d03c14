"""The largest singular value of an infinite matrix, cut at N: small functions, float sums.

Usage: spectral_norm.py [N]; 70 in the tests
"""

import sys
from math import sqrt


def element(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def times(u):
    """The matrix times u."""
    n = len(u)
    result = []
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += element(i, j) * u[j]
        result.append(total)
    return result


def transposed_times(u):
    n = len(u)
    result = []
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += element(j, i) * u[j]
        result.append(total)
    return result


def spectral_norm(n, rounds=10):
    u = [1.0] * n
    v = u
    for _ in range(rounds):
        v = transposed_times(times(u))
        u = transposed_times(times(v))
    uv = sum(a * b for a, b in zip(u, v))
    vv = sum(b * b for b in v)
    return sqrt(uv / vv)


def main(n=420):
    norm = spectral_norm(n)
    print(f"{norm:.9f}", norm.hex())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
