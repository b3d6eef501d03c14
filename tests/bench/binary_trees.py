"""Binary trees made and dropped by the thousand, with cycles for the collector.

Usage: binary_trees.py [DEPTH]; 8 in the tests
"""

import gc
import sys
import weakref


def make(depth):
    if depth == 0:
        return (None, None)
    return (make(depth - 1), make(depth - 1))


def count(tree):
    left, right = tree
    if left is None:
        return 1
    return 1 + count(left) + count(right)


class Node:
    """A tree whose children know their parent: only the collector frees it."""

    alive = 0

    def __init__(self, parent, depth):
        Node.alive += 1
        self.parent = parent
        self.children = [Node(self, depth - 1) for _ in range(2)] if depth else []

    def __del__(self):
        Node.alive -= 1

    def depth(self):
        return 0 if self.parent is None else 1 + self.parent.depth()

    def leaves(self):
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


def main(depth=16):
    print("stretch", depth + 1, count(make(depth + 1)))
    kept = make(depth)
    for level in range(4, depth + 1, 2):
        rounds = 1 << (depth - level + 3)
        total = 0
        for _ in range(rounds):
            total += count(make(level))
        print(rounds, "trees of depth", level, total)
    print("kept", count(kept))

    root = Node(None, depth - 2)
    middle = weakref.ref(root.children[0])
    print(Node.alive, sum(leaf.depth() for leaf in root.leaves()), middle() is not None)
    del root
    gc.collect()
    print(Node.alive, middle())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
