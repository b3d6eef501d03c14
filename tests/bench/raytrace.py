"""A small ray tracer: vectors as objects, polymorphic surfaces, recursion for reflections.

Usage: raytrace.py [SIDE]; 14 in the tests
"""

import sys
import zlib
from math import sqrt

EPSILON = 1e-6


class Vector:
    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def __neg__(self):
        return Vector(-self.x, -self.y, -self.z)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other):
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def length(self):
        return sqrt(self.dot(self))

    def unit(self):
        return self * (1.0 / self.length())

    def reflected(self, normal):
        return self - normal * (2.0 * self.dot(normal))


class Ray:
    __slots__ = ("origin", "direction")

    def __init__(self, origin, direction):
        self.origin = origin
        self.direction = direction

    def at(self, t):
        return self.origin + self.direction * t


class Surface:
    shine = 0.25

    def color_at(self, point):
        return self.color


class Sphere(Surface):
    def __init__(self, center, radius, color):
        self.center = center
        self.radius = radius
        self.color = color

    def meets(self, ray):
        to_center = self.center - ray.origin
        along = to_center.dot(ray.direction)
        aside = to_center.dot(to_center) - along * along
        room = self.radius * self.radius - aside
        if room < 0.0:
            return None
        half = sqrt(room)
        near = along - half
        if near > EPSILON:
            return near
        far = along + half
        return far if far > EPSILON else None

    def normal_at(self, point):
        return (point - self.center).unit()


class Plane(Surface):
    shine = 0.1

    def __init__(self, height, light, dark):
        self.height = height
        self.light = light
        self.dark = dark
        self.normal = Vector(0.0, 1.0, 0.0)

    def meets(self, ray):
        fall = ray.direction.y
        if abs(fall) < EPSILON:
            return None
        t = (self.height - ray.origin.y) / fall
        return t if t > EPSILON else None

    def normal_at(self, point):
        return self.normal

    def color_at(self, point):
        square = int(point.x // 1.0) + int(point.z // 1.0)
        return self.dark if square % 2 else self.light


class Scene:
    def __init__(self, surfaces, lights, depth=3):
        self.surfaces = surfaces
        self.lights = lights
        self.depth = depth
        self.rays = 0

    def nearest(self, ray):
        best = surface = None
        for candidate in self.surfaces:
            t = candidate.meets(ray)
            if t is not None and (best is None or t < best):
                best, surface = t, candidate
        return best, surface

    def is_lit(self, point, light):
        way = light - point
        distance = way.length()
        ray = Ray(point, way * (1.0 / distance))
        for surface in self.surfaces:
            t = surface.meets(ray)
            if t is not None and t < distance:
                return False
        return True

    def color(self, ray, depth=0):
        self.rays += 1
        t, surface = self.nearest(ray)
        if surface is None:
            sky = 0.5 * (ray.direction.y + 1.0)
            return Vector(0.4, 0.5, 0.6 + 0.3 * sky)
        point = ray.at(t)
        normal = surface.normal_at(point)
        start = point + normal * EPSILON
        brightness = 0.15
        for light in self.lights:
            if self.is_lit(start, light):
                brightness += 0.6 * max(0.0, (light - point).unit().dot(normal))
        color = surface.color_at(point) * brightness
        if depth < self.depth:
            mirrored = Ray(start, ray.direction.reflected(normal).unit())
            color = color + self.color(mirrored, depth + 1) * surface.shine
        return color


def build():
    surfaces = [
        Plane(-1.0, Vector(0.9, 0.9, 0.9), Vector(0.1, 0.1, 0.1)),
        Sphere(Vector(0.0, 0.2, 5.0), 1.2, Vector(0.9, 0.2, 0.2)),
        Sphere(Vector(-1.8, -0.3, 4.0), 0.7, Vector(0.2, 0.9, 0.3)),
        Sphere(Vector(1.7, -0.4, 3.6), 0.6, Vector(0.2, 0.3, 0.9)),
    ]
    return Scene(surfaces, [Vector(-5.0, 6.0, -2.0), Vector(4.0, 8.0, 1.0)])


def channel(value):
    return min(255, int(value * 255.0))


def main(side=290):
    scene = build()
    eye = Vector(0.0, 0.3, -1.0)
    forward = (Vector(0.0, 0.0, 4.0) - eye).unit()
    right = Vector(0.0, 1.0, 0.0).cross(forward).unit()
    up = forward.cross(right)
    image = bytearray()
    for row in range(side):
        for column in range(side):
            across = 2.0 * (column + 0.5) / side - 1.0
            down = 1.0 - 2.0 * (row + 0.5) / side
            direction = (forward * 1.6 + right * across + up * down).unit()
            color = scene.color(Ray(eye, direction))
            image += bytes((channel(color.x), channel(color.y), channel(color.z)))
    print(side, scene.rays, f"{zlib.crc32(image):08x}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
