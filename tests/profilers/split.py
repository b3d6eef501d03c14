"""Spends its time in two functions, seven tenths in the one and three in the other: both do
the same, so that the turns of their loops are the shares that a profiler must find."""

import sys


def seven(n):
    total = 0
    for i in range(n):
        total += (i % 7 * 3) ^ (i >> 2)
    return total


def three(n):
    total = 0
    for i in range(n):
        total += (i % 7 * 3) ^ (i >> 2)
    return total


def main(rounds):
    total = 0
    for _ in range(rounds):
        total += seven(70000)
        total += three(30000)
    print(total)


main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000)
