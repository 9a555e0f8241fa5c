"""The places of two bodies have the rate of their distance, and lie on the surfaces of both.

A place is two points with radii and a normal, each fixed on a body. Along any motion the gap of the
nearest place, its points kept, must change as the distance of the bodies does, to first order; else
impacts and friction act at wrong rates, or on wrong arms.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from liaison.contacts.convex.along import places_along
from liaison.contacts.convex.distance import separate
from liaison.contacts.convex.layout import Question, bodies_of
from liaison.numeric.height_fields import HeightGrid
from liaison.numeric.hulls import Solid, convex_hull
from liaison.program.loops.compile import compile_loops

BOX = convex_hull([*product((-0.3, 0.3), (-0.2, 0.2), (-0.1, 0.1))])
ROCK = convex_hull(np.random.default_rng(3).normal(size=(14, 3)) * 0.2)
SHAPES = {
    "ball": Solid(core=np.zeros((1, 3)), radius=0.2),
    "capsule": Solid(core=np.array([[0, 0, -0.2], [0, 0, 0.2]]), radius=0.1),
    "box": Solid(BOX),
    "cylinder": Solid(disc=0.15, half=0.2),
    "hull": Solid(ROCK),
}
SECOND: dict[str, Any] = {
    **SHAPES,
    "table": Solid(convex_hull([*product((-1, 1), (-1, 1), (-0.3, 0))])),
    "field": HeightGrid.of(3.0, 3.0, np.zeros((7, 7))),
}
PAIRS = list(product(SHAPES, SECOND))
STEP = 1e-4
POSES = 40
SLACK = 1.5e-3
"""Of rates of 1 m/s: a face looks along a normal up to 10⁻³ rad from its own."""


def turned(w: Any, R: Any) -> Any:
    """exp(w) R."""
    angle = np.linalg.norm(w)
    K = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]) / angle
    return (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K) @ R


def lowest(solid: Solid, R: Any, p: Any) -> float:
    """The lowest point of a body above the plane z = 0."""
    d = R[2]
    if solid.disc:
        return float(p[2] - solid.half * abs(d[2]) - solid.disc * np.hypot(d[0], d[1]))
    return float(p[2] + np.min(solid.vertices @ d) - solid.radius)


class Measured:
    """Distances of two bodies."""

    loop = None

    def __init__(self, one: Solid, other: Any) -> None:
        self.one, self.other = one, other
        if Measured.loop is None:
            Measured.loop = compile_loops([separate])[separate]
        self.bodies = bodies_of([one, other]) if isinstance(other, Solid) else None

    def __call__(self, R: Any, p: Any) -> float:
        if self.bodies is None:
            return lowest(self.one, R, p)
        ask = Question.new()
        ask.R[:], ask.p[:] = R, p
        Measured.loop(0, 1, self.bodies, ask)
        return float(ask.distance)


def poses(draw: Any, second: str, distance: Measured) -> Any:
    """Random poses a little apart or inside; above the table and the field, tilted by any angle."""
    for _ in range(POSES):
        R = turned(draw.normal(size=3), np.eye(3))
        way = np.array([*draw.uniform(-0.3, 0.3, 2), 1]) if second in ("table", "field") else None
        if way is None:
            way = draw.normal(size=3)
            way /= np.linalg.norm(way)
        p, goal = way.copy(), draw.uniform(-5e-3, 5e-3)
        up = np.array([0, 0, 1.0]) if second in ("table", "field") else way
        for _ in range(8):
            p = p + (goal - distance(R, p)) * up
        yield R, p


def gaps(places: Any, R: Any, p: Any, R0: Any) -> Any:
    """Of all places, points and normals fixed on the bodies as at the pose R0."""
    on_first = np.any(places[:, :3], axis=1)
    n = np.where(on_first[:, None], places[:, :3] @ R.T, places[:, 3:6])
    x = places[:, 6:9] @ R.T + p - places[:, 9:12]
    return np.einsum("ij,ij->i", n, x) - places[:, 12] - places[:, 13]


def off_surface(solid: Solid, x: Any) -> float:
    """How far a point is outside a body; negative inside."""
    if solid.disc:
        return float(max(np.hypot(x[0], x[1]) - solid.disc, abs(x[2]) - solid.half))
    if solid.polytope is not None:
        return float(np.max(solid.polytope.normals @ x - solid.polytope.offsets))
    core = solid.vertices
    along = core[-1] - core[0]
    part = np.clip((x - core[0]) @ along / (along @ along), 0, 1) if len(core) > 1 else 0
    return float(np.linalg.norm(x - core[0] - part * along) - solid.radius)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_nearest_place_has_the_rate_of_the_distance(first: str, second: str) -> None:
    one, other = SHAPES[first], SECOND[second]
    distance = Measured(one, other)
    draw = np.random.default_rng(sum(map(ord, first + second)))
    listed = list(poses(draw, second, distance))
    frames = np.array([[*R.ravel(), *p] for R, p in listed])
    found = places_along([("pair", one, other)], frames)[:, 0]
    for (R, p), every in zip(listed, found, strict=True):
        places = every[np.any(every[:, :6], axis=1)]
        own = gaps(places, R, p, R)
        k = int(np.argmin(own))
        assert own[k] == pytest.approx(distance(R, p), abs=1e-4)
        for _ in range(4):
            w, v = draw.normal(size=3), draw.normal(size=3)
            size = np.linalg.norm(w) + np.linalg.norm(v)
            moved = [(turned(s * STEP * w, R), p + s * STEP * v) for s in (1, -1)]
            here, there = (gaps(places[k : k + 1], *x, R)[0] for x in moved)
            truth = (distance(*moved[0]) - distance(*moved[1])) / (2 * STEP)
            assert (here - there) / (2 * STEP) == pytest.approx(truth, abs=SLACK * size)
        n = places[k, :3] if np.any(places[k, :3]) else R.T @ places[k, 3:6]
        touched = places[k, 6:9] - places[k, 12] * n
        assert abs(off_surface(one, touched)) < 1e-6 + abs(own[k])


def test_the_side_of_a_cylinder_touches_an_edge_where_they_cross() -> None:
    """Apart and inside: the point is that of the lines, not any of the face of the difference."""
    draw = np.random.default_rng(8)
    cylinder, box = SHAPES["cylinder"], SHAPES["box"]
    n = np.array([1, 0, 1]) / np.sqrt(2)
    across = np.array([1, 0, -1]) / np.sqrt(2)
    for depth in np.tile([-1e-3, 1e-3, 5e-3], 6):
        turn, y, s = draw.uniform(-1, 1), draw.uniform(-0.15, 0.15), draw.uniform(-0.15, 0.15)
        axis = np.cos(turn) * across + np.sin(turn) * np.array([0, 1, 0])
        edge = np.array([0.3, y, 0.1])
        R = np.column_stack([np.cross(n, axis), n, axis])
        p = edge + (cylinder.disc - depth) * n - s * axis
        (places,) = places_along([("pair", cylinder, box)], np.array([[*R.ravel(), *p]]))[:, 0]
        (place,) = places[np.any(places[:, :6], axis=1)]
        assert place[6:9] == pytest.approx([0, -cylinder.disc, s], abs=1e-5)
        assert place[9:12] == pytest.approx(edge, abs=1e-5)
        assert place[3:6] == pytest.approx(n, abs=1e-5)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("lean", [0.005, 0.3])
def test_a_rim_just_beyond_the_edge_of_a_face_is_a_point(lean: float, swapped: bool) -> None:
    """Nothing of it is above the face: its point had the radius of the whole cylinder."""
    cylinder, box = SHAPES["cylinder"], SHAPES["box"]
    axis, down = np.array([np.cos(lean), 0, np.sin(lean)]), [np.sin(lean), 0, -np.cos(lean)]
    R = np.column_stack([np.cross([0, 1, 0], axis), [0, 1, 0], axis])
    rim = np.array([0.3 + 1e-6, 0, 0.1 + 0.01])
    p = rim - cylinder.disc * np.array(down) + cylinder.half * axis
    pair = ("pair", box, cylinder) if swapped else ("pair", cylinder, box)
    R, p = (R.T, -R.T @ p) if swapped else (R, p)
    (places,) = places_along([pair], np.array([[*R.ravel(), *p]]))[:, 0]
    places = places[np.any(places[:, :6], axis=1)]
    assert gaps(places, R, p, R) == pytest.approx([0.01], abs=1e-8)
