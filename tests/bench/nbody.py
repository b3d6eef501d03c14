"""The planets of the outer solar system under gravity: float attributes in nested loops.

Usage: nbody.py [STEPS]; 8000 in the tests
"""

import sys
from math import sqrt

SOLAR_MASS = 39.47841760435743
DAYS_PER_YEAR = 365.24


class Body:
    __slots__ = ("name", "x", "y", "z", "vx", "vy", "vz", "mass")

    def __init__(self, name, position, velocity, mass):
        self.name = name
        self.x, self.y, self.z = position
        self.vx, self.vy, self.vz = (v * DAYS_PER_YEAR for v in velocity)
        self.mass = mass * SOLAR_MASS


def planets():
    """The sun and its four giants: positions in astronomical units, speeds a day."""
    return [
        Body("sun", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0),
        Body(
            "jupiter",
            (4.84143144246472090, -1.16032004402742839, -0.103622044471123109),
            (0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023),
            0.000954791938424326609,
        ),
        Body(
            "saturn",
            (8.34336671824457987, 4.12479856412430479, -0.403523417114321381),
            (-0.00276742510726411899, 0.00499852801234917238, 0.0000230417297573763929),
            0.000285885980666130812,
        ),
        Body(
            "uranus",
            (12.8943695621391310, -15.1111514016986312, -0.223307578892655734),
            (0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556),
            0.0000436624404335156298,
        ),
        Body(
            "neptune",
            (15.3796971148509165, -25.9193146099879641, 0.179258772950371181),
            (0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870),
            0.0000515138902046611451,
        ),
    ]


def settle(bodies):
    """Gives the sun the speed that makes the whole system's momentum zero."""
    px = py = pz = 0.0
    for body in bodies:
        px += body.vx * body.mass
        py += body.vy * body.mass
        pz += body.vz * body.mass
    sun = bodies[0]
    sun.vx = -px / sun.mass
    sun.vy = -py / sun.mass
    sun.vz = -pz / sun.mass


def energy(bodies):
    total = 0.0
    for i, a in enumerate(bodies):
        total += 0.5 * a.mass * (a.vx * a.vx + a.vy * a.vy + a.vz * a.vz)
        for b in bodies[i + 1 :]:
            dx = a.x - b.x
            dy = a.y - b.y
            dz = a.z - b.z
            total -= a.mass * b.mass / sqrt(dx * dx + dy * dy + dz * dz)
    return total


def advance(bodies, pairs, dt, steps):
    for _ in range(steps):
        for a, b in pairs:
            dx = a.x - b.x
            dy = a.y - b.y
            dz = a.z - b.z
            square = dx * dx + dy * dy + dz * dz
            pull = dt / (square * sqrt(square))
            to_a = b.mass * pull
            to_b = a.mass * pull
            a.vx -= dx * to_a
            a.vy -= dy * to_a
            a.vz -= dz * to_a
            b.vx += dx * to_b
            b.vy += dy * to_b
            b.vz += dz * to_b
        for body in bodies:
            body.x += dt * body.vx
            body.y += dt * body.vy
            body.z += dt * body.vz


def main(steps=350000):
    bodies = planets()
    pairs = [(a, b) for i, a in enumerate(bodies) for b in bodies[i + 1 :]]
    settle(bodies)
    print(f"{energy(bodies):.9f}")
    advance(bodies, pairs, 0.01, steps)
    print(f"{energy(bodies):.9f}")
    for body in bodies:
        print(body.name, body.x.hex(), body.y.hex(), body.z.hex())


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
