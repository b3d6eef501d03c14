"""Caches: an LRU by a linked list, one by an ordered dict, functools.lru_cache, counting bloom.

Usage: cache.py [REQUESTS]; 3000 in the tests
"""

import sys
from collections import OrderedDict, defaultdict
from functools import lru_cache


class Link:
    __slots__ = ("before", "after", "key", "value")

    def __init__(self, key=None, value=None):
        self.before = self.after = self
        self.key = key
        self.value = value

    def unlink(self):
        self.before.after = self.after
        self.after.before = self.before

    def link_after(self, other):
        self.before, self.after = other, other.after
        other.after.before = self
        other.after = self


class LinkedCache:
    """The least recently used entry leaves first; get and put in constant time."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = {}
        self.ring = Link()
        self.hits = self.misses = 0

    def __len__(self):
        return len(self.entries)

    def __contains__(self, key):
        return key in self.entries

    def get(self, key, default=None):
        link = self.entries.get(key)
        if link is None:
            self.misses += 1
            return default
        self.hits += 1
        link.unlink()
        link.link_after(self.ring)
        return link.value

    def put(self, key, value):
        link = self.entries.get(key)
        if link is not None:
            link.value = value
            link.unlink()
        else:
            if len(self.entries) >= self.capacity:
                oldest = self.ring.before
                oldest.unlink()
                del self.entries[oldest.key]
            link = self.entries[key] = Link(key, value)
        link.link_after(self.ring)

    def keys(self):
        link = self.ring.after
        while link is not self.ring:
            yield link.key
            link = link.after


class OrderedCache(OrderedDict):
    def __init__(self, capacity):
        super().__init__()
        self.capacity = capacity
        self.hits = self.misses = 0

    def get(self, key, default=None):
        try:
            self.move_to_end(key)
        except KeyError:
            self.misses += 1
            return default
        self.hits += 1
        return self[key]

    def put(self, key, value):
        self[key] = value
        self.move_to_end(key)
        if len(self) > self.capacity:
            self.popitem(last=False)


@lru_cache(maxsize=512)
def digits(number):
    return sum(map(int, str(number * number)))


def requests(count):
    """Keys of which some are far more frequent than others."""
    state = 1
    for _ in range(count):
        state = (state * 48271) % 2147483647
        yield state % (1 + state % 2999)


def serve(cache, count):
    checksum = 0
    for key in requests(count):
        value = cache.get(key)
        if value is None:
            value = key * 7 % 1013
            cache.put(key, value)
        checksum += value
    return checksum


def main(count=330000):
    linked = LinkedCache(500)
    ordered = OrderedCache(500)
    print(serve(linked, count), linked.hits, linked.misses, len(linked))
    print(serve(ordered, count), ordered.hits, ordered.misses, len(ordered))
    print(list(linked.keys()) == list(reversed(ordered)), 17 in linked)
    print(sum(digits(key) for key in requests(count // 2)), digits.cache_info())
    groups = defaultdict(list)
    for key in requests(count // 2):
        groups[key % 101].append(key)
    print(len(groups), max(len(group) for group in groups.values()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
