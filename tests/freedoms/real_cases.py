"""Mechanisms whose real mobility is known: planar and spherical chains, and relations of sliders.

A row is (mechanism, real mobility, complex mobility, what is proved): the real number by geometry
or by solving the equations by hand.
"""

from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

from liaison.expr import Expr
from liaison.model import Mechanism, Prismatic, Revolute
from liaison.model.describe import body, coordinate, ground, holonomic, join, mechanism

from .built import mechanism_of
from .linkages import CASES


def hinge(x: Any, y: Any = 0) -> dict[str, Any]:
    return {"type": "revolute", "direction": [0, 0, 1], "point": [str(F(x)), str(F(y)), "0"]}


def crease(x: Any, y: Any, z: Any = 0) -> dict[str, Any]:
    """A hinge through the origin."""
    return {"type": "revolute", "direction": [str(F(c)) for c in (x, y, z)], "point": [0, 0, 0]}


def ring(*joints: dict[str, Any], name: str = "ring") -> Mechanism:
    loop = [[k, 1] for k in range(len(joints))]
    return mechanism_of({"id": name, "joints": list(joints), "loops": [loop]})


def polygon(*points: Any) -> Mechanism:
    """A closed chain of bars in the plane with hinges at these points."""
    return ring(*(hinge(*(p if isinstance(p, tuple) else (p,))) for p in points))


def several(loops: list[list[int]], joints: list[dict[str, Any]]) -> Mechanism:
    """Loops of joints, all passed forwards; negative 1-based numbers are passed backwards."""
    signed = [[[abs(k) - 1, 1 if k > 0 else -1] for k in loop] for loop in loops]
    return mechanism_of({"id": "several loops", "joints": joints, "loops": signed})


def relation(*formulas: Callable[..., Expr], free: int = 0) -> Mechanism:
    """Sliders x, y, z, … with polynomial relations between them; `free` more are in none."""
    count = formulas[0].__code__.co_argcount
    names = [f"X{k}" for k in range(count + free)]
    joints = [join(ground, body(name, mass=1), Prismatic, name=name) for name in names]
    unknowns = [coordinate(name) for name in names[:count]]
    rows = [holonomic(f"r{k}", f(*unknowns)) for k, f in enumerate(formulas)]
    return mechanism(*joints, *rows)


STRETCHED = [hinge(0), hinge(1), hinge(3), hinge(6)]
"""Bars 1 + 2 + 3 on a ground of 6: they cannot leave the line."""


def on_crank() -> Mechanism:
    """The stretched four-bar on a crank that turns: its loop hangs on the crank's body."""
    crank = body("crank", mass=1)
    bars = [body(name, mass=1) for name in "abc"]
    places = [0, 1, 3, 6]
    ends = [crank, *bars, crank]
    joints = [join(ground.at((0, -1, 0)), crank.at((0, -1, 0)), Revolute, name="A")]
    for k, x in enumerate(places):
        joints.append(
            join(ends[k].at((x, 0, 0)), ends[k + 1].at((x, 0, 0)), Revolute, name=f"B{k}")
        )
    return mechanism(*joints, name="stretched on a crank")


def beside() -> Mechanism:
    """Two stretched four-bars that share nothing but the ground."""
    joints = []
    for row in (0, 5):
        ends = [ground, *(body(f"{name}{row}", mass=1) for name in "abc"), ground]
        for k, x in enumerate((0, 1, 3, 6)):
            at = (x, row, 0)
            joints.append(join(ends[k].at(at), ends[k + 1].at(at), Revolute, name=f"J{row}{k}"))
    return mechanism(*joints, name="two stretched")


def pendulum_beside() -> Mechanism:
    ends = [ground, *(body(name, mass=1) for name in "abc"), ground]
    joints = [join(ends[k].at((x, 0, 0)), ends[k + 1].at((x, 0, 0)), Revolute, name=f"J{k}")
              for k, x in enumerate((0, 1, 3, 6))]  # fmt: skip
    return mechanism(*joints, join(ground, body("bob", mass=1), Revolute, name="P"))


def dyad(extra: int) -> Mechanism:
    """A chain from the ground to the middle bar of a stretched four-bar, of `extra` hinges more."""
    a, b, c = (body(name, mass=1) for name in "abc")
    ends = [ground, a, b, c, ground]
    joints = [join(ends[k].at((x, 0, 0)), ends[k + 1].at((x, 0, 0)), Revolute, name=f"J{k}")
              for k, x in enumerate((0, 1, 3, 6))]  # fmt: skip
    chain = [b, *(body(f"d{k}", mass=1) for k in range(2 + extra)), ground]
    places = [(2, 1, 0), (3, 3, 0), (5, 4, 0), (7, 2, 0)][: 3 + extra]
    joints += [
        join(chain[k].at(p), chain[k + 1].at(p), Revolute, name=f"D{k}")
        for k, p in enumerate(places)
    ]
    return mechanism(*joints)


Row = tuple[Callable[[], Mechanism], int, int, bool]

DIFFERENT: dict[str, Row] = {
    "stretched four-bar": (lambda: ring(*STRETCHED), 0, 1, True),
    "stretched four-bar 1-4-2 on 1": (lambda: polygon(0, 1, -3, -1), 0, 1, True),
    "stretched four-bar 1-2-1 on 4": (lambda: polygon(0, 1, 3, -1), 0, 1, True),
    "stretched four-bar on a crank": (on_crank, 1, 2, True),
    "stretched four-bar beside a pendulum": (pendulum_beside, 1, 2, True),
    "two stretched four-bars": (beside, 0, 2, True),
    "stretched five-bar": (lambda: polygon(0, 1, 3, 6, 10), 0, 2, True),
    "dyad on a stretched four-bar": (lambda: dyad(0), 0, 1, True),
    "chain on a stretched four-bar": (lambda: dyad(1), 1, 2, True),
    "flat vertex, creases in a half plane": (
        lambda: ring(crease(1, 0), crease(3, 4), crease(0, 1), crease(-4, 3)), 0, 1, True),
    "x^2 + y^2": (lambda: relation(lambda x, y: x * x + y * y), 0, 1, True),
    "x^2 + y^4": (lambda: relation(lambda x, y: x**2 + y**4), 0, 1, True),
    "x^4 + y^4": (lambda: relation(lambda x, y: x**4 + y**4), 0, 1, True),
    "x^4 + y^6": (lambda: relation(lambda x, y: x**4 + y**6), 0, 1, True),
    "x^4 - x^2 y^3 + y^6": (lambda: relation(lambda x, y: x**4 - x**2 * y**3 + y**6), 0, 1, True),
    "x^2 + y^12": (lambda: relation(lambda x, y: x**2 + y**12), 0, 1, True),
    "x^2 + y^20": (lambda: relation(lambda x, y: x**2 + y**20), 0, 1, True),
    "x^2 + y^2 + z^4": (lambda: relation(lambda x, y, z: x**2 + y**2 + z**4), 0, 2, True),
    "x^2 + y^2, z free": (lambda: relation(lambda x, y: x * x + y * y, free=1), 1, 2, True),
    "(x^2 + y^2)(x^2 + 37 y^2)": (
        lambda: relation(lambda x, y: (x**2 + y**2) * (x**2 + 37 * y**2)), 0, 1, True),
    "two cones, one combination definite": (
        lambda: relation(lambda x, y, z: x * x - z * z, lambda x, y, z: y * y + z * z), 0, 1, True),
}  # fmt: skip

ALIKE: dict[str, Row] = {
    "flat parallelogram": (lambda: polygon(0, 1, 4, 3), 1, 1, True),
    "change point 1 + 5 = 2 + 4": (lambda: polygon(0, 1, 6, 4), 1, 1, True),
    "kite, folded": (lambda: polygon(0, 2, 3, 1), 1, 1, True),
    "folded rhombus": (lambda: polygon(0, 1, 0, 1), 1, 1, True),
    "triangle 3-4-5": (lambda: polygon((0, 0), (4, 0), (0, 3)), 0, 0, True),
    "square": (lambda: polygon((0, 0), (1, 0), (1, 1), (0, 1)), 1, 1, True),
    "pentagon": (lambda: polygon((0, 0), (2, 0), (3, 1), (1, 3), (0, 1)), 2, 2, True),
    "folded five-bar": (lambda: polygon(0, 2, 1, 4, 3), 2, 2, True),
    "flat vertex of 4 creases all round": (
        lambda: ring(crease(1, 0), crease(0, 1), crease(-3, 4), crease(-1, -2)), 1, 1, True),
    "flat vertex of 6 creases": (
        lambda: ring(crease(1, 0), crease(3, 4), crease(-3, 4), crease(-1, 0), crease(-3, -4),
                     crease(3, -4)), 3, 3, True),
    "xy": (lambda: relation(lambda x, y: x * y), 1, 1, True),
    "cusp x^2 - y^3": (lambda: relation(lambda x, y: x**2 - y**3), 1, 1, True),
    "cusp x^2 - y^5": (lambda: relation(lambda x, y: x**2 - y**5), 1, 1, True),
    "cusp x^2 - y^13": (lambda: relation(lambda x, y: x**2 - y**13), 1, 1, True),
    "tangent branches x^2 - y^4": (lambda: relation(lambda x, y: x**2 - y**4), 1, 1, True),
    "(x^2 + y^2)(x - 2y)": (lambda: relation(lambda x, y: (x**2 + y**2) * (x - 2 * y)), 1, 1, True),
    "(x^2 + y^2 + z^2)(x - z)": (
        lambda: relation(lambda x, y, z: (x**2 + y**2 + z**2) * (x - z)), 2, 2, True),
    "x^4 - 3 x^2 y^3 + y^6": (
        lambda: relation(lambda x, y: x**4 - 3 * x**2 * y**3 + y**6), 1, 1, True),
    "umbrella x^2 - y^2 z": (lambda: relation(lambda x, y, z: x**2 - y**2 * z), 2, 2, True),
    "x^2 + y^2 - z^3": (lambda: relation(lambda x, y, z: x**2 + y**2 - z**3), 2, 2, True),
    "cone x^2 + y^2 - z^2": (lambda: relation(lambda x, y, z: x**2 + y**2 - z**2), 2, 2, True),
    "xy = 0 = x^2 - y^2 + z^2": (
        lambda: relation(lambda x, y, z: x * y, lambda x, y, z: x**2 - y**2 + z**2), 1, 1, True),
    "(x - y)^2": (lambda: relation(lambda x, y: (x - y) ** 2), 1, 1, False),
    "circle at (0, 0), shifted": (lambda: relation(lambda x, y: x * x + y * y - 2 * x), 1, 1, True),
}  # fmt: skip

BOUNDS: dict[str, Row] = {
    "(x^2 + y^2) x^2": (lambda: relation(lambda x, y: (x**2 + y**2) * x**2), 1, 1, False),
    "x^2 + y^2 z^2": (lambda: relation(lambda x, y, z: x**2 + y**2 * z**2), 1, 2, False),
    "(x^2 - y^3)^2 + y^8": (lambda: relation(lambda x, y: (x**2 - y**3) ** 2 + y**8), 0, 1, False),
    "x^2 + y^2 = z^2, x^2 + 2 y^2 = z^2": (
        lambda: relation(lambda x, y, z: x**2 + y**2 - z**2,
                         lambda x, y, z: x**2 + 2 * y**2 - z**2), 1, 1, False),
    "Motzkin's form": (
        lambda: relation(lambda x, y, z: x**4 * y**2 + x**2 * y**4 - 3 * (x * y * z) ** 2 + z**6),
        1, 2, False),
}  # fmt: skip

LINKAGES: dict[str, Row] = {
    name: (lambda name=name: mechanism_of(CASES[name]), case["expected"]["mobility"],
           case["expected"]["mobility"], True)
    for name, case in CASES.items()
}  # type: ignore[misc]  # fmt: skip
