"""Loops over machine-sized integers: sums, Collatz, gcd, modular powers, bit counts.

Usage: int_loop.py [N]; 3000 in the tests
"""

import sys


def polynomial_sum(n):
    total = 0
    for i in range(n):
        total += i * i % 7 - (i ^ 5)
    return total


def longest_collatz(limit):
    best = best_start = 0
    for start in range(1, limit):
        n = start
        steps = 0
        while n != 1:
            if n & 1:
                n = 3 * n + 1
            else:
                n >>= 1
            steps += 1
        if steps > best:
            best = steps
            best_start = start
    return best_start, best


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def coprime_pairs(n):
    count = 0
    for a in range(1, n):
        for b in range(a, n):
            if gcd(a, b) == 1:
                count += 1
    return count


def power(base, exponent, modulus):
    result = 1
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


def count_bits(n):
    total = 0
    for i in range(n):
        while i:
            i &= i - 1
            total += 1
    return total


def main(n=400000):
    print(polynomial_sum(10 * n))
    print(*longest_collatz(n // 5))
    print(coprime_pairs(n // 300))
    print(sum(power(i, 65535, 1000003) for i in range(n // 20)))
    print(count_bits(n))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
