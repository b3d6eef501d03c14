"""Sorting by hand: quicksort, merge sort, heap sort, shell sort, and a heap of tuples.

Usage: sorting.py [N]; 700 in the tests
"""

import sys
from heapq import heappop, heappush


def numbers(count, seed=99):
    state = seed
    result = []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2147483648
        result.append(state % 100003)
    return result


def quicksort(items, low, high):
    while high - low > 12:
        pivot = items[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while items[i] < pivot:
                i += 1
            while items[j] > pivot:
                j -= 1
            if i <= j:
                items[i], items[j] = items[j], items[i]
                i += 1
                j -= 1
        if j - low < high - i:
            quicksort(items, low, j)
            low = i
        else:
            quicksort(items, i, high)
            high = j
    for i in range(low + 1, high + 1):
        item = items[i]
        j = i - 1
        while j >= low and items[j] > item:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = item


def merge_sort(items):
    if len(items) < 2:
        return items
    middle = len(items) // 2
    left = merge_sort(items[:middle])
    right = merge_sort(items[middle:])
    merged = []
    i = j = 0
    while i < len(left) and j < len(right):
        if right[j] < left[i]:
            merged.append(right[j])
            j += 1
        else:
            merged.append(left[i])
            i += 1
    merged.extend(left[i:])
    merged.extend(right[j:])
    return merged


def sift(heap, start, end):
    root = start
    while (child := 2 * root + 1) < end:
        if child + 1 < end and heap[child] < heap[child + 1]:
            child += 1
        if heap[root] >= heap[child]:
            return
        heap[root], heap[child] = heap[child], heap[root]
        root = child


def heap_sort(items):
    for start in range(len(items) // 2 - 1, -1, -1):
        sift(items, start, len(items))
    for end in range(len(items) - 1, 0, -1):
        items[0], items[end] = items[end], items[0]
        sift(items, 0, end)


def shell_sort(items):
    gap = 1
    while gap < len(items) // 3:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, len(items)):
            item = items[i]
            j = i
            while j >= gap and items[j - gap] > item:
                items[j] = items[j - gap]
                j -= gap
            items[j] = item
        gap //= 3


class Heap:
    """A priority queue whose order is a method: compares by (key, arrival)."""

    def __init__(self):
        self.entries = []
        self.arrivals = 0

    def push(self, key, value):
        heappush(self.entries, (key, self.arrivals, value))
        self.arrivals += 1

    def pop(self):
        key, _, value = heappop(self.entries)
        return key, value


def checksum(items):
    total = 0
    for i, item in enumerate(items):
        total = (total * 31 + item + i) % 1000000007
    return total


def main(n=80000):
    unsorted = numbers(n)
    quick = unsorted[:]
    quicksort(quick, 0, n - 1)
    merged = merge_sort(unsorted)
    heaped = unsorted[:]
    heap_sort(heaped)
    shelled = unsorted[:]
    shell_sort(shelled)
    expected = sorted(unsorted)
    print(checksum(quick), quick == merged == heaped == shelled == expected)
    heap = Heap()
    for i, number in enumerate(unsorted):
        heap.push(number % 1000, i)
    order = [heap.pop()[1] for _ in range(n)]
    print(checksum(order))
    print(checksum(sorted(unsorted, key=lambda number: (number % 97, -number))))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
