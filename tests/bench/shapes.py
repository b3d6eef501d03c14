"""A class-heavy program: inheritance, properties, slots, class and static methods, dunders.

A small ledger of shapes is built, moved, scaled, compared and summed, the way an object
model of an application is.

Usage: shapes.py [ROUNDS]; 3000 in the tests
"""

import sys


class Counted:
    """Counts the instances of each class below it."""

    made = 0

    def __init_subclass__(cls):
        super().__init_subclass__()
        cls.made = 0

    def __new__(cls, *args):
        cls.made += 1
        return super().__new__(cls)


class Point:
    __slots__ = ("_x", "_y")

    def __init__(self, x, y):
        self._x = x
        self._y = y

    @property
    def x(self):
        return self._x

    @property
    def y(self):
        return self._y

    def moved(self, dx, dy):
        return Point(self._x + dx, self._y + dy)

    def __eq__(self, other):
        if not isinstance(other, Point):
            return NotImplemented
        return self._x == other._x and self._y == other._y

    def __hash__(self):
        return hash((self._x, self._y))

    def __lt__(self, other):
        return (self._x, self._y) < (other._x, other._y)


class Shape(Counted):
    name = "shape"

    def __init__(self, origin):
        self.origin = origin
        self._scale = 1

    @property
    def scale(self):
        return self._scale

    @scale.setter
    def scale(self, value):
        if value <= 0:
            raise ValueError("a scale must be positive")
        self._scale = value

    def area(self):
        raise NotImplementedError

    def scaled_area(self):
        return self.area() * self._scale * self._scale

    def move(self, dx, dy):
        self.origin = self.origin.moved(dx, dy)
        return self

    def contains(self, point):
        left, top, right, bottom = self.box()
        return left <= point.x <= right and top <= point.y <= bottom

    def box(self):
        raise NotImplementedError

    def __str__(self):
        return f"{self.name}@{self.origin.x},{self.origin.y}"


class Rectangle(Shape):
    name = "rectangle"

    def __init__(self, origin, width, height):
        super().__init__(origin)
        self.width = width
        self.height = height

    def area(self):
        return self.width * self.height

    def box(self):
        x, y = self.origin.x, self.origin.y
        return x, y, x + self.width * self.scale, y + self.height * self.scale


class Square(Rectangle):
    name = "square"

    def __init__(self, origin, side):
        super().__init__(origin, side, side)

    @classmethod
    def unit(cls, origin):
        return cls(origin, 1)


class Circle(Shape):
    name = "circle"

    def __init__(self, origin, radius):
        super().__init__(origin)
        self.radius = radius

    def area(self):
        # 355/113 keeps the checksum an integer.
        return self.radius * self.radius * 355 // 113

    def box(self):
        x, y, r = self.origin.x, self.origin.y, self.radius * self.scale
        return x - r, y - r, x + r, y + r


class Group(Shape):
    name = "group"

    def __init__(self, origin, *members):
        super().__init__(origin)
        self.members = list(members)

    def area(self):
        return sum(member.scaled_area() for member in self.members)

    def move(self, dx, dy):
        for member in self.members:
            member.move(dx, dy)
        return super().move(dx, dy)

    def box(self):
        boxes = [member.box() for member in self.members]
        return (
            min(box[0] for box in boxes),
            min(box[1] for box in boxes),
            max(box[2] for box in boxes),
            max(box[3] for box in boxes),
        )

    def __len__(self):
        return len(self.members)

    def __getitem__(self, i):
        return self.members[i]


class Statistics:
    def __init__(self):
        self.areas = {}
        self.inside = 0
        self.refused = 0

    def add(self, shape):
        key = type(shape).__name__
        self.areas[key] = self.areas.get(key, 0) + shape.scaled_area()

    @staticmethod
    def mix(total, value):
        return (total * 33 + value) % 998244353


def turn(i, statistics, cursor):
    origin = Point(i % 37, i % 23)
    shapes = [
        Rectangle(origin, 3 + i % 5, 2 + i % 3),
        Square.unit(origin.moved(1, 1)),
        Circle(origin.moved(-1, 2), 1 + i % 4),
    ]
    group = Group(origin, *shapes)
    for k, shape in enumerate(group):
        try:
            shape.scale = (i + k) % 7
        except ValueError:
            statistics.refused += 1
        statistics.add(shape.move(k, -k))
        if shape.contains(cursor):
            statistics.inside += 1
    group.move(2, 3)
    statistics.add(group)
    if group.contains(cursor):
        statistics.inside += 1
    return group


def main(rounds=72000):
    statistics = Statistics()
    cursor = Point(11, 9)
    seen = set()
    checksum = 0
    for i in range(rounds):
        group = turn(i, statistics, cursor)
        seen.add(group.origin)
        checksum = statistics.mix(checksum, group.scaled_area() + len(group))
    print(checksum, statistics.inside, statistics.refused, len(seen))
    print(sorted(statistics.areas.items()))
    print(min(seen).x, max(seen).y, str(group), Rectangle.made, Square.made, Group.made)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
