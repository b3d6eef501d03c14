"""Dynamic programming over lists: edit distance, common subsequence, knapsack, shortest paths.

Usage: distance.py [LENGTH]; 60 in the tests
"""

import sys


def letters(count, seed):
    state = seed
    result = []
    for _ in range(count):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        result.append("acgt"[state >> 16 & 3])
    return "".join(result)


def edit_distance(a, b):
    before = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            cost = before[j - 1] + (letter != other)
            if before[j] + 1 < cost:
                cost = before[j] + 1
            if row[j - 1] + 1 < cost:
                cost = row[j - 1] + 1
            row.append(cost)
        before = row
    return before[-1]


def common_subsequence(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    i, j = len(a), len(b)
    result = []
    while i and j:
        if a[i - 1] == b[j - 1]:
            result.append(a[i - 1])
            i -= 1
            j -= 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return "".join(reversed(result))


def knapsack(weights, values, capacity):
    best = [0] * (capacity + 1)
    for weight, value in zip(weights, values):
        for room in range(capacity, weight - 1, -1):
            candidate = best[room - weight] + value
            if candidate > best[room]:
                best[room] = candidate
    return best[capacity]


def shortest_paths(side):
    """Floyd and Warshall on a ring with shortcuts; infinity is a float among integers."""
    far = float("inf")
    distance = [[far] * side for _ in range(side)]
    for i in range(side):
        distance[i][i] = 0
        distance[i][(i + 1) % side] = 3
        distance[i][i * 7 % side] = min(distance[i][i * 7 % side], 5)
    for k in range(side):
        row_k = distance[k]
        for row in distance:
            to_k = row[k]
            for j, from_k in enumerate(row_k):
                if to_k + from_k < row[j]:
                    row[j] = to_k + from_k
    return sum(map(sum, distance))


def main(length=1500):
    a, b = letters(length, 5), letters(length, 99)
    print(edit_distance(a, b))
    common = common_subsequence(a, b)
    print(len(common), common[:30])
    count = length // 8
    weights = [3 + i * 7 % 31 for i in range(count)]
    values = [10 + i * 13 % 47 for i in range(count)]
    print(knapsack(weights, values, length * 4))
    print(shortest_paths(20 + length // 8))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
