"""The Mandelbrot set on a square grid: a float loop that leaves early, bits packed in bytes.

Usage: mandelbrot.py [SIDE]; 120 in the tests
"""

import sys
import zlib


def escapes_after(cx, cy, limit):
    x = y = 0.0
    for turn in range(limit):
        xx = x * x
        yy = y * y
        if xx + yy > 4.0:
            return turn
        y = 2.0 * x * y + cy
        x = xx - yy + cx
    return limit


def mandelbrot(side, limit=50):
    image = bytearray()
    inside = 0
    for row in range(side):
        cy = 2.0 * row / side - 1.0
        bits = 0
        for column in range(side):
            cx = 2.0 * column / side - 1.5
            bits <<= 1
            if escapes_after(cx, cy, limit) == limit:
                bits |= 1
                inside += 1
            if column & 7 == 7:
                image.append(bits)
                bits = 0
        if side & 7:
            image.append(bits << (8 - (side & 7)) & 0xFF)
    return image, inside


def main(side=680):
    image, inside = mandelbrot(side)
    print(side, inside, f"{zlib.crc32(image):08x}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
