"""Pipelines of generators: yield, yield from, send, close, generator expressions.

Usage: generators.py [N]; 6000 in the tests
"""

import sys


class Node:
    __slots__ = ("left", "key", "right")

    def __init__(self, key):
        self.key = key
        self.left = self.right = None

    def __iter__(self):
        """The keys in order, by one nested generator a level."""
        if self.left is not None:
            yield from self.left
        yield self.key
        if self.right is not None:
            yield from self.right


def insert(root, key):
    if root is None:
        return Node(key)
    node = root
    while True:
        if key == node.key:
            return root
        if key < node.key:
            if node.left is None:
                node.left = Node(key)
                return root
            node = node.left
        else:
            if node.right is None:
                node.right = Node(key)
                return root
            node = node.right


def scrambled(count):
    value = 12345
    for _ in range(count):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
        yield value >> 7


def running_mean():
    """Send it numbers; it answers the mean so far; closing it ends it."""
    total = count = 0
    mean = None
    try:
        while True:
            total += yield mean
            count += 1
            mean = total / count
    finally:
        closed.append(count)


closed = []


def pairwise(items):
    items = iter(items)
    before = next(items)
    for item in items:
        yield before, item
        before = item


def chunks(items, size):
    chunk = []
    for item in items:
        chunk.append(item)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def main(n=180000):
    root = None
    for key in scrambled(n):
        root = insert(root, key)
    size = sum(1 for _ in root)
    gaps = [b - a for a, b in pairwise(root)]
    print(size, min(gaps), max(gaps))

    mean = running_mean()
    next(mean)
    last = 0.0
    for key in root:
        last = mean.send(key)
    mean.close()
    print(last.hex(), closed)

    checksum = 0
    evens = (key for key in root if key % 2 == 0)
    squares = (key * key for key in evens)
    for chunk in chunks(squares, 7):
        checksum = (checksum + sum(chunk) % 1009 * len(chunk)) % 1000003
    print(checksum)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
