"""Primes: a sieve over a list, one over a bytearray, trial division, and what sums give.

Usage: sieve.py [LIMIT]; 9000 in the tests
"""

import sys


def by_list(limit):
    flags = [True] * (limit + 1)
    flags[0] = flags[1] = False
    for i in range(2, limit + 1):
        if i * i > limit:
            break
        if flags[i]:
            j = i * i
            while j <= limit:
                flags[j] = False
                j += i
    return [i for i, flag in enumerate(flags) if flag]


def by_slices(limit):
    flags = bytearray(b"\1") * (limit + 1)
    flags[0:2] = b"\0\0"
    for i in range(2, int(limit**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = bytes(len(range(i * i, limit + 1, i)))
    return [i for i in range(limit + 1) if flags[i]]


def by_division(limit):
    primes = [2]
    candidate = 3
    while candidate <= limit:
        for prime in primes:
            if prime * prime > candidate:
                primes.append(candidate)
                break
            if candidate % prime == 0:
                break
        candidate += 2
    return primes


def goldbach(even, primes, known):
    """How many ways an even number is the sum of two primes."""
    ways = 0
    for prime in primes:
        if prime > even // 2:
            break
        if even - prime in known:
            ways += 1
    return ways


def main(limit=4000000):
    primes = by_list(limit)
    print(len(primes), primes[-1], primes == by_slices(limit))
    few = by_division(limit // 10)
    print(len(few), sum(few), few == primes[: len(few)])
    known = set(few)
    print(sum(goldbach(even, few, known) for even in range(4, limit // 800, 2)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
