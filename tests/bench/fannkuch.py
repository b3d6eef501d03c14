"""Pancake flipping over all permutations of N: small integers in lists, slices and reversals.

Usage: fannkuch.py [N [ROUNDS]]; 7 2 in the tests
"""

import sys


def flips_of(permutation):
    """How many prefix reversals bring a 0 to the front."""
    flips = 0
    first = permutation[0]
    while first:
        permutation[: first + 1] = permutation[first::-1]
        flips += 1
        first = permutation[0]
    return flips


def fannkuch(n):
    count = list(range(1, n + 1))
    permutation = list(range(n))
    most = 0
    checksum = 0
    sign = 1
    while True:
        if permutation[0]:
            flips = flips_of(permutation[:])
            if flips > most:
                most = flips
            checksum += sign * flips
        # The next permutation, in the order that differs by one swap or rotation each time.
        if sign > 0:
            permutation[0], permutation[1] = permutation[1], permutation[0]
            sign = -1
            continue
        permutation[1], permutation[2] = permutation[2], permutation[1]
        sign = 1
        i = 2
        while True:
            count[i] -= 1
            if count[i]:
                break
            if i == n - 1:
                return checksum, most
            count[i] = i + 1
            i += 1
            permutation.insert(i, permutation.pop(0))


def main(n=9, rounds=3):
    for _ in range(rounds):
        checksum, most = fannkuch(n)
    print(checksum)
    print(f"fannkuch({n}) = {most}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
