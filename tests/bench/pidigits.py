"""Digits of pi by a spigot over big integers, and other things that integers outgrow 64 bits for.

Usage: pidigits.py [DIGITS]; 120 in the tests
"""

import sys


def pi_digits():
    """Gibbons' unbounded spigot, in its streaming form."""
    q, r, t, k, n, l = 1, 0, 1, 1, 3, 3
    while True:
        if 4 * q + r - t < n * t:
            yield n
            q, r, n = 10 * q, 10 * (r - n * t), 10 * (3 * q + r) // t - 10 * n
        else:
            q, r, t, k, n, l = (
                q * k,
                (2 * q + r) * l,
                t * l,
                k + 1,
                (q * (7 * k + 2) + r * l) // (t * l),
                l + 2,
            )


def integer_root(n):
    """The largest integer whose square is at most n, by Newton."""
    x = 1 << (n.bit_length() + 1) // 2
    while True:
        y = (x + n // x) // 2
        if y >= x:
            return x
        x = y


def miller_rabin(n, bases=(2, 3, 5, 7, 11, 13, 17)):
    if n < 2 or n % 2 == 0:
        return n == 2
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd //= 2
        twos += 1
    for base in bases:
        if n % base == 0:
            return n == base
        x = pow(base, odd, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def main(digits=3800):
    stream = pi_digits()
    text = "".join(str(next(stream)) for _ in range(digits))
    print(text[:40], text[-10:], sum(map(int, text)))
    root = integer_root(2 * 100 ** (digits // 2))
    print(str(root)[-20:], root.bit_length())
    borders = [2**62, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), 10**19]
    total = 0
    for i in range(digits * 4):
        for border in borders:
            total += (border + i) * (i - 7) // (i + 1) ^ border
    print(total)
    print([p for p in range(10**18, 10**18 + digits // 4) if miller_rabin(p)][:3])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
