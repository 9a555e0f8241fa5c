"""Overconstrained mechanisms of many loops, each with its mobility as published or by geometry.

All of them are in an exact position, in which every joint angle is zero.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction as F
from typing import Any

from liaison.expr import PI, cos, sin, sqrt
from liaison.model import Mechanism, Revolute, Universal
from liaison.model.describe import body, ground, join, mechanism

Hinge = tuple[str, str, Sequence[Any], Sequence[Any]]
"""Two bodies, a point on the axis, and its direction."""

Z = (0, 0, 1)


def hinged(name: str, hinges: Sequence[Hinge], base: str) -> Mechanism:
    """Bodies with hinges between them; one of them is the ground."""
    names = sorted({x for a, b, _, _ in hinges for x in (a, b)})
    bodies = {x: body(x, mass=1) for x in names} | {base: ground}
    joints = [join(bodies[a].at(p), bodies[b].at(p), Revolute, name=f"h{k}", axis=axis)
              for k, (a, b, p, axis) in enumerate(hinges)]  # fmt: skip
    return mechanism(*joints, name=name)


def bars(name: str, points: Sequence[Any], edges: Sequence[tuple[int, int]]) -> Mechanism:
    """Bars in the plane between points; at a point all are hinged to the first bar there."""
    ends: dict[int, list[str]] = {}
    for k, edge in enumerate(edges):
        for i in edge:
            ends.setdefault(i, []).append(f"b{k:02d}")
    hinges = [(there[0], other, (*points[i], 0), Z)
              for i, there in sorted(ends.items()) for other in there[1:]]  # fmt: skip
    return hinged(name, hinges, "b00")


def panels(name: str, points: Any, faces: Sequence[Sequence[Any]]) -> Mechanism:
    """Rigid panels, hinged along their common edges."""
    edges: dict[frozenset[Any], list[str]] = {}
    for k, face in enumerate(faces):
        for a, b in zip(face, (*face[1:], face[0]), strict=True):
            edges.setdefault(frozenset((a, b)), []).append(f"f{k:02d}")
    hinges = []
    for edge, sides in edges.items():
        if len(sides) == 2:
            a, b = (points[k] for k in sorted(edge))
            hinges.append((*sides, a, [y - x for x, y in zip(a, b, strict=True)]))
    return hinged(name, hinges, "f00")


# In the plane -------------------------------------------------------------------------------------


def ladder(rungs: int, last: Any = 0, height: int = 2, first: Any = 0) -> Mechanism:
    """Two rails and parallel rungs: one motion; none if the last rung is longer. `first` is the
    place of the first rung."""
    hinges: list[Hinge] = []
    for i in range(rungs):
        foot = i if i else first
        top = (foot + 1 + (last if i == rungs - 1 else 0), height, 0)
        hinges += [("g", f"r{i}", (foot, 0, 0), Z), (f"r{i}", "t", top, Z)]
    return hinged(f"ladder of {rungs} rungs", hinges, "g")


def uneven_ladder(lengths: Sequence[int]) -> Mechanism:
    """Parallel rungs of several lengths: it gives way to first order and then locks."""
    hinges: list[Hinge] = []
    for i, length in enumerate(lengths):
        hinges += [("g", f"r{i}", (i, 0, 0), Z), (f"r{i}", "t", (i, length, 0), Z)]
    return hinged("uneven ladder", hinges, "g")


def on_line(*places: Any) -> Mechanism:
    """A closed chain of bars in the plane, with all hinges on a line."""
    n = len(places)
    hinges = [(f"b{k}", f"b{(k + 1) % n}", (x, 0, 0), Z) for k, x in enumerate(places)]
    return hinged("bars on a line", hinges, "b0")


def lattice(m: int, k: int) -> Mechanism:
    """Rods in two directions, hinged where they cross."""
    first, second = [0, 2, 3, 7, 8][:m], [0, 1, 4, 6, 9][:k]
    hinges = [(f"u{i}", f"v{j}", (3 * y + x, y + 2 * x, 0), Z)
              for i, x in enumerate(first) for j, y in enumerate(second)]  # fmt: skip
    return hinged(f"lattice {m} x {k}", hinges, "u0")


def hoberman(n: int, outer: int = 3, inner: int = 1, odd: Any = 0) -> Mechanism:
    """A ring of n pairs of angulated rods; `odd` lengthens one of them."""

    def at(radius: Any, k: int) -> tuple[Any, Any, int]:
        return (radius * cos(PI * F(k, n)), radius * sin(PI * F(k, n)), 0)

    hinges: list[Hinge] = []
    middle = F(outer + inner, 2) / cos(PI * F(1, n))
    for i in range(n):
        after = (i + 1) % n
        hinges += [
            (f"L{i}", f"M{i}", at(middle + (odd if i == 0 else 0), 2 * i), Z),
            (f"L{i}", f"M{after}", at(outer, 2 * i + 1), Z),
            (f"M{i}", f"L{after}", at(inner, 2 * i + 1), Z),
        ]
    return hinged(f"Hoberman ring of {n}", hinges, "L0")


def doubled_scissors(cells: int) -> Mechanism:
    """Scissors in two planes; at each node three rods turn on a shaft that the fourth carries."""
    hinges: list[Hinge] = []

    def node(u: str, v: str, x: Any, y: Any) -> None:
        hinges.extend((u, other, (x, y, 0), Z) for other in (v, f"{u}far", f"{v}far"))

    for i in range(cells):
        node(f"a{i}", f"b{i}", 0, 2 * i)
        if i:
            node(f"a{i}", f"b{i - 1}", -3, 2 * i - 1)
            node(f"b{i}", f"a{i - 1}", 3, 2 * i - 1)
    return hinged(f"scissors of {cells} cells, doubled", hinges, "a0")


def times(a: Any, b: Any) -> tuple[Any, Any]:
    """The product of two points as complex numbers."""
    return (a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0])


def plus(*points: Any) -> tuple[Any, Any]:
    return (sum(p[0] for p in points), sum(p[1] for p in points))


def roberts() -> Mechanism:
    """The three four-bars of one coupler curve (Roberts), joined at its point: ten bars."""
    shape = (F(1, 3), F(1, 2))
    rest = (shape[0] - 1, shape[1])
    a, b, c = (1, 2), (4, 1), (2, -3)
    o1, o2 = (0, 0), plus(a, b, c)
    o3 = times(shape, o2)
    point = plus(a, times(shape, b))
    d, g = times(shape, b), plus(o2, times(rest, b))
    e, h = plus(d, times(shape, a)), plus(g, times(rest, c))
    rows = [("g", "a1", o1), ("a1", "t1", a), ("t1", "c1", plus(a, b)), ("c1", "g", o2),
            ("g", "a2", o1), ("a2", "t2", d), ("t2", "c2", e), ("c2", "g", o3),
            ("g", "a3", o2), ("a3", "t3", g), ("t3", "c3", h), ("c3", "g", o3),
            ("t1", "t2", point), ("t1", "t3", point)]  # fmt: skip
    return hinged("Roberts' ten bars", [(x, y, (*p, 0), Z) for x, y, p in rows], "g")


def focal(a: Any, b: Any, c: Any, ratio: Any, off: Any = 0) -> Mechanism:
    """Burmester's focal mechanism: a four-bar a b c d and bars from its focus, the origin, to a
    point of each side. The angles under which the focus sees opposite sides sum up to a half turn:
    b d/(a c) = −ratio. With ratio 1 it is Kempe's. `off` moves one of the four points."""
    size = [x * x + y * y for x, y in (a, b, c)]
    d = times(times(a, c), (-ratio * F(b[0]) / size[1], ratio * F(b[1]) / size[1]))
    corners = [a, b, c, d]
    weights = [ratio * size[0], size[1], ratio * size[2], d[0] ** 2 + d[1] ** 2]
    hinges: list[Hinge] = []
    for i in range(4):
        j = (i + 1) % 4
        share = weights[i] / F(weights[i] + weights[j]) + (off if i == 0 else 0)
        way = plus(corners[j], (-corners[i][0], -corners[i][1]))
        place = plus(corners[i], times((share, 0), way))
        hinges += [(f"s{i}", f"s{j}", (*corners[j], 0), Z), (f"s{i}", f"r{i}", (*place, 0), Z)]
    hinges += [("r0", f"r{i}", (0, 0, 0), Z) for i in (1, 2, 3)]
    return hinged("focal mechanism", hinges, "s0")


def dixon_one(m: int, k: int, off: Any = 0) -> Mechanism:
    """Bars between all points of one line and all points of a line across it (Dixon)."""
    points = [(x, 0) for x in (1, 3, -4, 7)[:m]] + [(0, y) for y in (2, 5, -3, 6)[:k]]
    points[-1] = (off, points[-1][1])
    return bars("Dixon's first", points, [(i, m + j) for i in range(m) for j in range(k)])


def dixon_two(off: Any = 0) -> Mechanism:
    """Bars between all corners of a rectangle and all corners of another about its axes (Dixon)."""
    first = [(3 + off, 1), (-3, 1), (3, -1), (-3, -1)]
    second = [(1, 4), (-1, 4), (1, -4), (-1, -4)]
    edges = [(i, 4 + j) for i in range(4) for j in range(4)]
    return bars("Dixon's second", first + second, edges)


def on_circle() -> Mechanism:
    """Bars between three and three points of a circle: shaky, and rigid."""
    places = [(5, 0), (3, 4), (-4, 3), (-3, -4), (4, -3), (0, -5)]
    return bars("K(3, 3) on a circle", places, [(i, 3 + j) for i in range(3) for j in range(3)])


def peaucellier() -> Mechanism:
    """Peaucellier and Lipkin's inversor."""
    points = [(0, 0), (4, 3), (4, -3), (2, 0), (6, 0), (1, 0)]
    edges = [(0, 5), (0, 1), (0, 2), (1, 3), (2, 3), (1, 4), (2, 4), (5, 3)]
    return bars("Peaucellier", points, edges)


# Panels -------------------------------------------------------------------------------------------


def sheet(a: Sequence[Any], b: Sequence[Any], name: str) -> Mechanism:
    """Parallelograms with corners a_i + b_j: creased paper, where a lies in the plane of x and y, b
    in that of y and z. Its first coordinates shrink while those of y change as λ and 1/λ."""
    points = {(i, j): (x, y + v, z) for i, (x, y) in enumerate(a) for j, (v, z) in enumerate(b)}
    columns = len(a) - 1
    faces = [((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
             for i in range(columns) for j in range(len(b) - 1)]  # fmt: skip
    return panels(name, points, faces)


def miura(m: int, k: int, *, height: int = 2) -> Mechanism:
    """Miura's fold, of m by k equal panels; flat if the height is zero."""
    a = [(2 * i, i % 2) for i in range(m + 1)]
    return sheet(a, [(3 * j, height * (j % 2)) for j in range(k + 1)], f"Miura {m} x {k}")


def irregular(m: int, k: int, *, is_flat: bool = False) -> Mechanism:
    """Creases as in Miura's fold with lengths and angles of their own."""
    a = [(0, 0), (2, 1), (3, -1), (5, 2), (8, 0)][: m + 1]
    b = [(0, 0), (3, 2), (5, -1), (9, 1), (10, 0)][: k + 1]
    b = [(y, 0) for y, _ in b] if is_flat else b
    return sheet(a, b, f"irregular fold {m} x {k}")


def tube(k: int) -> Mechanism:
    """A folded tube of k rings, each of four panels."""
    a = [(0, 0), (2, 1), (4, 0), (2, -1)]
    b = [(3 * j, 2 * (j % 2)) for j in range(k + 1)]
    points = {(i, j): (x, y + v, z) for i, (x, y) in enumerate(a) for j, (v, z) in enumerate(b)}
    faces = [((i, j), ((i + 1) % 4, j), ((i + 1) % 4, j + 1), (i, j + 1))
             for i in range(4) for j in range(k)]  # fmt: skip
    return panels(f"tube of {k} rings", points, faces)


def octahedron(points: Sequence[Any]) -> Mechanism:
    """Eight triangles; corners k and k + 3 are opposite."""
    faces = [(a, b, c) for a in (0, 3) for b in (1, 4) for c in (2, 5)]
    return panels("octahedron", points, faces)


def line_symmetric(off: Any = 0) -> Mechanism:
    """Bricard's first octahedron: a half turn about z exchanges opposite corners."""
    half = [(1, 2, 0), (3, -1, 1), (-2, 2, 4)]
    return octahedron([*half, *((-x, -y, z + (off if z == 4 else 0)) for x, y, z in half)])


def plane_symmetric(off: Any = 0) -> Mechanism:
    """Bricard's second: two pairs of opposite corners are mirror images, one lies in the mirror."""
    return octahedron([(1, 2, 3), (-2, 4, 1), (5, 1, 0), (1, 2, -3), (-2, 4, -1), (-1, -3, off)])


def twice_flat(off: Any = 0) -> Mechanism:
    """Bricard's third, in a flat position: the quadrangles of two pairs of opposite corners have
    sides that touch circles about the origin. With a, b, c the slopes of the directions to the
    three pairs, reflected in the axis, that is so for every λ."""
    a, b, c, scale = F(1), F(2), F(1, 3), F(1, 5)
    pairs = []
    for slope, others in ((a, b * c), (b, a * c), (c, a * b)):
        sizes = [1 / ((1 + slope**2) * (1 - side * scale * others)) for side in (1, -1)]
        pairs.append([(sizes[0], slope * sizes[0], 0), (sizes[1], -slope * sizes[1], 0)])
    first, second = zip(*pairs, strict=True)
    x, y, z = second[0]
    return octahedron([*first, (x + off, y, z), *second[1:]])


# In space -----------------------------------------------------------------------------------------


def legs(count: int, longer: Any = 0) -> Mechanism:
    """A platform on equal parallel legs with universal joints: it moves without turning."""
    top = body("top", mass=1)
    joints = []
    for i, (x, y) in enumerate([(0, 0), (3, 0), (1, 4), (5, 5)][:count]):
        leg, end = body(f"leg{i}", mass=1), (x + 1, y, 2 + (longer if i == 0 else 0))
        joints.append(join(ground.at((x, y, 0)), leg.at((x, y, 0)), Universal, name=f"u{i}"))
        joints.append(join(top.at(end), leg.at(end), Universal, name=f"v{i}"))
    return mechanism(*joints, name=f"platform on {count} legs")


def sarrus(count: int) -> Mechanism:
    """Plates that come closer without turning, held by folding sides (Sarrus)."""
    sides = [((1, 0), (0, 1)), ((0, 1), (-1, 0)), ((-1, 0), (0, -1)),
             ((F(3, 5), F(4, 5)), (F(-4, 5), F(3, 5)))]  # fmt: skip
    hinges: list[Hinge] = []
    for i, ((x, y), (u, v)) in enumerate(sides[:count]):
        rows = [("g", f"a{i}", (2 * x, 2 * y, 0)), (f"a{i}", f"b{i}", (3 * x, 3 * y, 1)),
                (f"b{i}", "t", (2 * x, 2 * y, 2))]  # fmt: skip
        hinges += [(a, b, p, (u, v, 0)) for a, b, p in rows]
    return hinged(f"Sarrus with {count} sides", hinges, "g")


def kaleidocycle(directions: Sequence[tuple[Any, Any]]) -> Mechanism:
    """A closed ring of hinges in planes through z, tilted up and down in turn."""
    n = len(directions)
    hinges: list[Hinge] = []
    for k, (c, s) in enumerate(directions):
        radius, tilt = (3, F(3, 4)) if k % 2 else (2, F(-4, 3))
        hinges.append((f"t{k}", f"t{(k + 1) % n}", (radius * c, radius * s, 0), (c, s, tilt)))
    return hinged(f"kaleidocycle of {n}", hinges, "t0")


def around(n: int) -> list[tuple[Any, Any]]:
    """Directions that divide the circle evenly."""
    return [(cos(2 * PI * F(k, n)), sin(2 * PI * F(k, n))) for k in range(n)]


QUARTER = [(F(1), F(0)), (F(4, 5), F(3, 5))]
EIGHT = [(x, y) for turn in ((1, 0), (0, 1), (-1, 0), (0, -1)) for x, y in
         (times(turn, QUARTER[0]), times(turn, QUARTER[1]))]  # fmt: skip
"""Eight directions of rational coordinates, in four equal pairs."""

Row = tuple[Callable[[], Mechanism], int]

FOCUS = ((3, 1), (-1, 2), (-2, -1))

QUICK: dict[str, Row] = {
    "ladder of 4 rungs": (lambda: ladder(4), 1),
    "ladder of 6 rungs": (lambda: ladder(6), 1),
    "lattice 3 x 3": (lambda: lattice(3, 3), 1),
    "lattice 4 x 4": (lambda: lattice(4, 4), 1),
    "Hoberman ring of 3": (lambda: hoberman(3), 1),
    "Hoberman ring of 4": (lambda: hoberman(4), 1),
    "Hoberman ring of 5": (lambda: hoberman(5), 1),
    "Hoberman ring of 6": (lambda: hoberman(6), 1),
    "Hoberman ring of 8": (lambda: hoberman(8), 1),
    "doubled scissors of 2 cells": (lambda: doubled_scissors(2), 1),
    "doubled scissors of 3 cells": (lambda: doubled_scissors(3), 1),
    "Roberts' ten bars": (roberts, 1),
    "Kempe's focal mechanism": (lambda: focal((4, 1), (-1, 3), (-3, -1), 1), 1),
    "Burmester's focal mechanism": (lambda: focal(*FOCUS, F(3, 2)), 1),
    "Dixon's first, K(3, 3)": (lambda: dixon_one(3, 3), 1),
    "Dixon's second, K(4, 4)": (dixon_two, 1),
    "Peaucellier": (peaucellier, 1),
    "Miura 3 x 3": (lambda: miura(3, 3), 1),
    "Miura 4 x 4": (lambda: miura(4, 4), 1),
    "tube of 2 rings": (lambda: tube(2), 1),
    "tube of 3 rings": (lambda: tube(3), 1),
    "Bricard's octahedron I": (line_symmetric, 1),
    "Bricard's octahedron II": (plane_symmetric, 1),
    "platform on 3 legs": (lambda: legs(3), 2),
    "platform on 4 legs": (lambda: legs(4), 2),
    "Sarrus with 3 sides": (lambda: sarrus(3), 1),
    "Sarrus with 4 sides": (lambda: sarrus(4), 1),
    "kaleidocycle of 6": (lambda: kaleidocycle(around(6)), 1),
    "kaleidocycle of 8, even": (lambda: kaleidocycle(around(8)), 2),
}  # fmt: skip
"""Mechanisms whose mobility is proved, with their mobility."""

SLOW: dict[str, Row] = {
    "ladder of 3 rungs, flat": (lambda: ladder(3, height=0), 1),
    "ladder of 4 rungs, flat": (lambda: ladder(4, height=0), 1),
    "Dixon's first, K(3, 4)": (lambda: dixon_one(3, 4), 1),
    "irregular fold 3 x 3": (lambda: irregular(3, 3), 1),
    "irregular fold 4 x 4": (lambda: irregular(4, 4), 1),
    "kaleidocycle of 8": (lambda: kaleidocycle(EIGHT), 2),
    "Bricard's octahedron III, flat": (twice_flat, 1),
    "Miura 3 x 3, flat": (lambda: miura(3, 3, height=0), 2),
    "irregular fold 3 x 3, flat": (lambda: irregular(3, 3, is_flat=True), 2),
    "ladder of 6 rungs, flat": (lambda: ladder(6, height=0), 1),
}  # fmt: skip

SMALL = F(1, 1000)

RIGID: dict[str, Callable[[], Mechanism]] = {
    "ladder": lambda: ladder(4, last=SMALL),
    "Hoberman ring": lambda: hoberman(4, odd=SMALL),
    "focal mechanism": lambda: focal(*FOCUS, F(3, 2), off=SMALL),
    "Dixon's first": lambda: dixon_one(3, 3, off=SMALL),
    "Dixon's second": lambda: dixon_two(off=SMALL),
    "octahedron I": lambda: line_symmetric(off=SMALL),
    "octahedron II": lambda: plane_symmetric(off=SMALL),
    "octahedron III": lambda: twice_flat(off=SMALL),
}
"""The same with one length changed: none of them moves."""

SHAKY: dict[str, Callable[[], Mechanism]] = {
    "uneven ladder": lambda: uneven_ladder((1, 2, 4, 3)),
    "K(3, 3) on a circle": on_circle,
}
"""They give way to first order, and do not move."""

REASONS: dict[str, tuple[Callable[[], Mechanism], tuple[int, int], str]] = {
    "flat, with a root, several equations beyond the pivots": (
        lambda: ladder(3, height=0, first=-sqrt(2)), (0, 1),
        "some numbers of the position are not rational"),
    "a number without residues": (
        lambda: ladder(3, first=-cos(PI / 32)), (1, 1),
        "π/32 is no point of the circle"),
}  # fmt: skip
"""Mechanisms that are not proved: bounds, and words of the reason."""
