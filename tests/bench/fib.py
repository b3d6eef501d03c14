"""Calls and nothing else: Fibonacci numbers, Ackermann's and Takeuchi's functions.

Usage: fib.py [N]; 18 in the tests
"""

import sys


def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def tak(x, y, z):
    if y >= x:
        return z
    return tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y))


def main(n=35):
    print(fib(n))
    print(ackermann(2, n * 4))
    print(tak(n // 2, n // 4, n // 8))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
