"""Loops over floats: quadrature, Newton, a logistic map, Runge-Kutta, a series with signs.

Usage: float_loop.py [N]; 5000 in the tests
"""

import sys


def integrate(a, b, steps):
    """The integral of x^3 - 2x^2 + 1/(1+x^2) by the midpoint rule."""
    width = (b - a) / steps
    total = 0.0
    for i in range(steps):
        x = a + (i + 0.5) * width
        total += x * x * x - 2.0 * x * x + 1.0 / (1.0 + x * x)
    return total * width


def square_root(value):
    guess = value
    while True:
        better = 0.5 * (guess + value / guess)
        if abs(better - guess) < 1e-12 * better:
            return better
        guess = better


def logistic(rate, x, turns):
    low, high = 1.0, 0.0
    for _ in range(turns):
        x = rate * x * (1.0 - x)
        if x < low:
            low = x
        elif x > high:
            high = x
    return x, low, high


def pendulum(angle, speed, dt, steps):
    """A pendulum by fourth-order Runge-Kutta, its sine by a short series."""

    def pull(a):
        square = a * a
        return -a * (1.0 - square / 6.0 * (1.0 - square / 20.0))

    for _ in range(steps):
        a1, v1 = speed, pull(angle)
        a2, v2 = speed + 0.5 * dt * v1, pull(angle + 0.5 * dt * a1)
        a3, v3 = speed + 0.5 * dt * v2, pull(angle + 0.5 * dt * a2)
        a4, v4 = speed + dt * v3, pull(angle + dt * a3)
        angle += dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        speed += dt / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
    return angle, speed


def leibniz(terms):
    total = 0.0
    sign = 1.0
    for i in range(terms):
        total += sign / (2 * i + 1)
        sign = -sign
    return 4.0 * total


def main(n=3600000):
    print(integrate(0.0, 3.0, n).hex())
    print(sum(square_root(float(i)) for i in range(1, n // 50)).hex())
    print(*(value.hex() for value in logistic(3.9, 0.5, n)))
    print(*(value.hex() for value in pendulum(1.0, 0.0, 0.01, n // 10)))
    print(leibniz(n).hex())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
