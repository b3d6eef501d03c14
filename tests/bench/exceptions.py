"""Exceptions as control flow: raising, catching by class, finally, chaining, with, else.

Usage: exceptions.py [N]; 2000 in the tests
"""

import sys


class Rejected(Exception):
    code = 1


class TooBig(Rejected):
    code = 2

    def __init__(self, value):
        super().__init__(value)
        self.value = value


class Unlucky(Rejected):
    code = 3


class Transaction:
    """Counts commits and rollbacks; swallows what it is told to."""

    committed = rolled_back = 0

    def __init__(self, tolerated):
        self.tolerated = tolerated

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is None:
            Transaction.committed += 1
            return False
        Transaction.rolled_back += 1
        return issubclass(kind, self.tolerated)


def check(value):
    if value % 13 == 0:
        raise Unlucky
    if value > 1000:
        raise TooBig(value)
    return value


def deeper(value, depth):
    if depth == 0:
        return check(value)
    try:
        return deeper(value, depth - 1)
    finally:
        counts["unwound"] += 1


counts = {"unwound": 0, "missing": 0, "parsed": 0, "chained": 0}


def classify(value):
    try:
        check(value)
    except TooBig as error:
        return error.code + error.value % 3
    except Rejected as error:
        return error.code
    else:
        return 0


def parse_all(words):
    total = 0
    for word in words:
        try:
            total += int(word)
        except ValueError:
            try:
                total += float(word)
            except ValueError as error:
                counts["parsed"] += len(error.args[0]) % 5
    return total


def look_up(table, keys):
    found = 0
    for key in keys:
        try:
            found += table[key]
        except KeyError:
            counts["missing"] += 1
            table[key] = key % 5
    return found


def chained(value):
    try:
        try:
            deeper(value, 3)
        except Rejected as error:
            raise RuntimeError("chained") from error
    except RuntimeError as error:
        counts["chained"] += isinstance(error.__cause__, TooBig)
        return True
    return False


def drain(iterator):
    total = 0
    while True:
        try:
            total += next(iterator)
        except StopIteration:
            return total


def main(n=650000):
    print(sum(classify(i % 1500) for i in range(n)))
    words = ["12", "x", "7.5", "-3", "nan!", "1e3"]
    print(parse_all(words * (n // 12)))
    print(look_up({}, [i * i % 4099 for i in range(n)]))
    print(sum(chained(i % 1400) for i in range(n // 4)))
    for i in range(n // 2):
        with Transaction(TooBig) as transaction:
            try:
                deeper(i % 1300, 2)
            except Unlucky:
                transaction.tolerated = Rejected
                raise_again = i % 2
                if raise_again:
                    raise
    print(Transaction.committed, Transaction.rolled_back)
    print(drain(iter(range(n))), counts)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
