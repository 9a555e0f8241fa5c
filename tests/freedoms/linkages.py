"""Mechanisms with known mobility: screws from exact data, and polynomial systems."""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from liaison.exact.linear import primes_from
from liaison.expr import symbol
from liaison.freedoms.local.formulas import FormulaSystem
from liaison.freedoms.screws import Factor, LoopSystem, System, screw_of_hinge, screw_of_slider

CASES: dict[str, Any] = {
    case["id"]: case
    for case in json.loads((Path(__file__).parent / "cases.json").read_text())["cases"]
}


def residue(x: Any, p: int) -> int:
    f = Fraction(x)
    return f.numerator * pow(f.denominator, -1, p) % p


def screws_of(case: dict[str, Any], p: int) -> list[tuple[int, ...]]:
    found = []
    for joint in case["joints"]:
        d = [residue(x, p) for x in joint["direction"]]
        if joint["type"] == "revolute":
            screw = screw_of_hinge(d, [residue(x, p) for x in joint["point"]])
        else:
            screw = screw_of_slider(d)
        found.append(tuple(x % p for x in screw))
    return found


def loop_system(case: dict[str, Any], p: int) -> LoopSystem:
    screws = screws_of(case, p)
    loops = [[Factor(k, sign, screws[k]) for k, sign in loop] for loop in case["loops"]]
    return LoopSystem(p, len(screws), loops)


def loop_systems(case: dict[str, Any], seed: int = 0) -> Iterator[System]:
    return (loop_system(case, p) for p in primes_from(seed))


def chained(loops: int) -> dict[str, Any]:
    """Bricard's trihedral linkages in a row, each sharing a hinge with the next, moved along."""
    base = CASES["bricard_trihedral"]["joints"]
    points = [[Fraction(x) for x in joint["point"]] for joint in base]
    step = [b - a for a, b in zip(points[0], points[3], strict=True)]
    joints: list[dict[str, Any]] = [base[0]]
    rings, shared = [], 0
    for k in range(loops):
        places = [shared]
        for joint, point in zip(base[1:], points[1:], strict=True):
            places.append(len(joints))
            joints.append({**joint, "point": [x + k * s for x, s in zip(point, step, strict=True)]})
        rings.append([[place, 1] for place in places])
        shared = places[3]
    return {"id": f"{loops} linkages in a row", "joints": joints, "loops": rings}


# Polynomial systems: (formulas, point) ----------------------------------------------------------


class Angles:
    """Sines and cosines as unknowns, each pair on its circle."""

    def __init__(self) -> None:
        self.point: dict[Any, Any] = {}
        self.circles: list[Any] = []

    def angle(self, name: str, cosine: Any, sine: Any) -> tuple[Any, Any]:
        c, s = symbol(f"c{name}"), symbol(f"s{name}")
        self.point |= {c: Fraction(cosine), s: Fraction(sine)}
        self.circles.append(c * c + s * s - 1)
        return c, s

    def number(self, name: str, value: Any) -> Any:
        x = symbol(name)
        self.point[x] = Fraction(value)
        return x


def triangle(lengths: tuple[int, int, int], headings: Any) -> Any:
    """Le plus simple: three bars in the plane, closed, first pin at a free point."""
    a = Angles()
    a.number("x", 0), a.number("y", 0)
    pairs = [a.angle(str(k), *heading) for k, heading in enumerate(headings)]
    closure = [
        sum((-1 * l * pair[i] for l, pair in zip(lengths, pairs, strict=True)), start=0)
        for i in range(2)
    ]
    return [*a.circles, *closure], a.point


def slider_crank(lengths: tuple[int, int], crank: Any, rod: Any, x: Any) -> Any:
    """La bielle."""
    a = Angles()
    (c1, s1), (c2, s2) = a.angle("1", *crank), a.angle("12", *rod)
    slide = a.number("x", x)
    l1, l2 = lengths
    return [
        *a.circles,
        l1 * c1 + l2 * (c1 * c2 - s1 * s2) - slide,
        l1 * s1 + l2 * (s1 * c2 + c1 * s2),
    ], a.point


def saliere(first: Any, second: Any, third: Any) -> Any:
    """La salière: four right-angle creases at a point."""
    a = Angles()
    (c1, s1), (c2, s2), (c3, s3) = (
        a.angle(str(k), *pair) for k, pair in enumerate((first, second, third))
    )
    return [*a.circles, c2 - c3, s1 * s2, c1 * s2 - s3], a.point


def constant_velocity_joint() -> Any:
    """Le joint homocinétique: two Cardan joints, coaxial shafts, sliding output."""
    a = Angles()
    here = (Fraction(3, 5), Fraction(4, 5))
    (c1, s1), (cb, sb), (cg, sg), (c4, s4) = (
        a.angle("1", *here), a.angle("b", 1, 0), a.angle("g", 1, 0), a.angle("4", *here),
    )  # fmt: skip
    z = a.number("z", 2)
    # Rx(-γ)(0,0,2) = (0, 2 sγ, 2 cγ); then Ry(β), then Rz(α1)
    x1, y1, z1 = 2 * sb * cg, 2 * sg, 2 * cb * cg
    return [
        *a.circles,
        c1 * x1 - s1 * y1,
        s1 * x1 + c1 * y1,
        z1 - z,
        (s1 * c4 - c1 * s4) * cb,
    ], a.point


def bars(points: Any, edges: Any, pinned: Any = ()) -> Any:
    """Points joined by bars of the lengths they have; some points are pinned."""
    point: dict[Any, Any] = {}
    places = []
    for k, place in enumerate(points):
        if k in pinned:
            places.append([Fraction(x) for x in place])
            continue
        names = [symbol(f"p{k}.{i}") for i in range(len(place))]
        point |= dict(zip(names, map(Fraction, place), strict=True))
        places.append(names)
    formulas = []
    for i, j in edges:
        ends = list(zip(points[i], points[j], strict=True))
        length = sum((Fraction(a) - Fraction(b)) ** 2 for a, b in ends)
        square = sum(
            ((a - b) * (a - b) for a, b in zip(places[i], places[j], strict=True)), start=0
        )
        formulas.append(square - length)
    return formulas, point


def platform(lengths: tuple[int, int, int]) -> Any:
    """A plate of three points on three parallel bars, in the plane."""
    top = [(0, 0), (2, 0), (1, 3)]
    feet = [(x, y - l) for (x, y), l in zip(top, lengths, strict=True)]
    edges = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 4), (2, 5)]
    return bars(top + feet, edges, pinned=(3, 4, 5))


def octahedron(points: Any) -> Any:
    """Six free points, each joined to all but its opposite (k and k + 3)."""
    edges = [(i, j) for i in range(6) for j in range(i) if i - j != 3]
    return bars(points, edges)


def line_symmetric(points: Any) -> Any:
    """Three points and their images by a half turn about z."""
    return octahedron([*points, *((-x, -y, z) for x, y, z in points)])


def formula_systems(formulas: Any, point: Any, seed: int = 0) -> Iterator[System]:
    return (FormulaSystem(p, formulas, point) for p in primes_from(seed))
