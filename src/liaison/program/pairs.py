"""Pairs of bodies that may touch: balls, planes, boxes, points and faces, one kernel a class.

A body is described by the place of its center of mass and its quaternion, (x, y, z, w, a, b, c). A
ball has its center c on its body and a radius r; one of radius 0 is a point, such as the corner of
a box. With n from the first ball to the second, or off the plane,

    g = |c₂ − c₁| − r₁ − r₂,   or   g = n·c − d − r,                            (pairs-1)

A box is described by its center, its half sizes and the quaternion of its axes on its body; a ball
touches it at the point of the box that is nearest to its center, or leaves it by the nearest face
where the center is inside. Two boxes touch by a point of one and a face n·x = d of the other, or by
two edges, x = a + s d, with n along the product of their directions:

    g = n·(c₂ − x₁) − d − r,   or   g = n·(x₂ − x₁), n = d₁ × d₂/|d₁ × d₂|.       (pairs-2)

A point x of the ground touches a face of a body, with n into it, by g = d − n·(x − x₂).

Three rows for each body, along n and two tangents s, give the rate of what touches: (ρ × s, s)
on (ω, velocity of the center of mass), both in the axes of the ground, ρ being the arm of the
point that touches; with the sign turned for the first body.

Public names: pair_program, PAIR_ROWS.

Source: docs/theory/time_stepping.md; DUFF17 (tangents of a normal without singular direction).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from liaison.expr import Expr, absolute, as_expr, maximum, minimum, select, sqrt, symbol

from .program import Entry, Program

Triple: TypeAlias = Sequence[Expr]

PAIR_ROWS = 37
"""Doubles of a pair: the gap, three rows on the first body, three on the second."""

TINY = 1e-24  # square of a distance [m²], so that centers that coincide have some normal


@cache
def pair_program() -> Program:
    """Entries ball_ball, ball_plane, ball_box, point_face, edge_edge, face_point, each with _gap.

    Arguments: q and v are the poses of the first and the second body, p and u what they have there:
    balls (c, r); a plane (n, d) in the first place, of the ground or on a body; a box (c, half
    sizes, quaternion) in the first place; edges (a, direction of length 1); a point of the ground
    in the first place, a face (n, d) on the second body.
    """
    arrays = {"q": 7, "v": 7, "p": 10, "u": 6}
    names = {x: [symbol(f"{x}[{i}]") for i in range(n)] for x, n in arrays.items()}
    q, v, p, u = names["q"], names["v"], names["p"], names["u"]
    entries = {
        "ball_ball": _balls(q, v, p, u), "ball_plane": _plane(v, p, u),
        "ball_box": _box(q, v, p, u), "point_face": _face(q, v, p, u),
        "edge_edge": _edges(q, v, p, u), "face_point": _peak(v, p, u),
    }  # fmt: skip
    entries |= {f"{name}_gap": formulas[:1] for name, formulas in entries.items()}
    return Program(
        "pairs",
        {
            name: Entry(name, tuple(as_expr(x) for x in formulas))
            for name, formulas in entries.items()
        },
        {x: (array, i) for array, listed in names.items() for i, x in enumerate(listed)},
        sizes={"nq": 7, "nv": 7, "nu": 6, "np": 10, "nx": 0, "nc": 0, "nphi": 0},
    )


def _balls(q: Triple, v: Triple, p: Triple, u: Triple) -> list[Expr]:
    first, second = _turned(q, p), _turned(v, u)
    away = [v[i] + second[i] - q[i] - first[i] for i in range(3)]
    length = sqrt(_dot(away, away) + TINY)
    n = [x / length for x in away]
    near = [first[i] + p[3] * n[i] for i in range(3)]
    far = [second[i] - u[3] * n[i] for i in range(3)]
    return [length - p[3] - u[3], *(-x for x in _rows(near, n)), *_rows(far, n)]


def _plane(v: Triple, p: Triple, u: Triple) -> list[Expr]:
    n, center = p[:3], _turned(v, u)
    gap = _dot(n, [v[i] + center[i] for i in range(3)]) - p[3] - u[3]
    arm = [center[i] - u[3] * n[i] for i in range(3)]
    return [gap, *[as_expr(0)] * 18, *_rows(arm, n)]


def _box(q: Triple, v: Triple, p: Triple, u: Triple) -> list[Expr]:
    """A box on the first body and a ball on the second."""
    middle, second, half, own = _turned(q, p), _turned(v, u), p[3:6], [*p[:3], *p[6:10]]
    away = [v[i] + second[i] - q[i] - middle[i] for i in range(3)]
    local = _turned(_inverse(own), _turned(_inverse(q), away))
    near = [maximum(-half[i], minimum(half[i], local[i])) for i in range(3)]
    off = [local[i] - near[i] for i in range(3)]
    square = _dot(off, off)
    # inside, the nearest face is the way out
    depth = [half[i] - absolute(local[i]) for i in range(3)]
    least = minimum(depth[0], minimum(depth[1], depth[2]))
    chosen = _first_of([select(least - depth[i] + TINY, as_expr(1), as_expr(0)) for i in range(3)])
    side = [chosen[i] * select(local[i], as_expr(1), as_expr(-1)) for i in range(3)]
    is_out, length = square - TINY, sqrt(square + TINY)
    n = [select(is_out, off[i] / length, side[i]) for i in range(3)]
    touch = [select(is_out, near[i], near[i] + depth[i] * side[i]) for i in range(3)]
    gap = select(is_out, length, -least) - u[3]
    n, arm = (_turned(q, _turned(own, x)) for x in (n, touch))
    first = [middle[i] + arm[i] for i in range(3)]
    far = [second[i] - u[3] * n[i] for i in range(3)]
    return [gap, *(-x for x in _rows(first, n)), *_rows(far, n)]


def _first_of(flags: Triple) -> list[Expr]:
    """The first flag that is 1, the others 0."""
    one, two, three = flags
    return [one, (1 - one) * two, (1 - one) * (1 - two) * three]


def _face(q: Triple, v: Triple, p: Triple, u: Triple) -> list[Expr]:
    """A face on the first body and a point or ball on the second."""
    n, second = _turned(q, p), _turned(v, u)
    away = [v[i] + second[i] - q[i] for i in range(3)]
    height = _dot(n, away) - p[3]
    near = [away[i] - height * n[i] for i in range(3)]
    far = [second[i] - u[3] * n[i] for i in range(3)]
    return [height - u[3], *(-x for x in _rows(near, n)), *_rows(far, n)]


def _peak(v: Triple, p: Triple, u: Triple) -> list[Expr]:
    """A point of the ground and a face on the second body, n into the body."""
    n, arm = _turned(v, u), [p[i] - v[i] for i in range(3)]
    return [u[3] - _dot(n, arm), *[as_expr(0)] * 18, *_rows(arm, n)]


def _edges(q: Triple, v: Triple, p: Triple, u: Triple) -> list[Expr]:
    """An edge on each body."""
    first, one = _turned(q, p), _turned(q, p[3:6])
    second, two = _turned(v, u), _turned(v, u[3:6])
    across = _cross(one, two)
    wide = _dot(across, across) + TINY
    n = [x / sqrt(wide) for x in across]
    away = [v[i] + second[i] - q[i] - first[i] for i in range(3)]
    k, a, b = _dot(one, two), _dot(away, one), _dot(away, two)
    t = (k * a - b) / wide
    s = a + k * t
    near = [first[i] + s * one[i] for i in range(3)]
    far = [second[i] + t * two[i] for i in range(3)]
    return [_dot(n, away), *(-x for x in _rows(near, n)), *_rows(far, n)]


def _inverse(pose: Triple) -> list[Expr]:
    """A pose of the inverse attitude."""
    return [*pose[:4], *(-x for x in pose[4:7])]


def _turned(pose: Triple, ball: Triple) -> list[Expr]:
    """The arm of a ball's center, in the axes of the ground: c + 2 w e × c + 2 e × (e × c)."""
    w, e = pose[3], pose[4:7]
    once = _cross(e, ball[:3])
    twice = _cross(e, once)
    return [ball[i] + 2 * (w * once[i] + twice[i]) for i in range(3)]


def _rows(arm: Triple, n: Triple) -> list[Expr]:
    return [x for s in (n, *_tangents(n)) for x in (*_cross(arm, s), *s)]


def _tangents(n: Triple) -> tuple[list[Expr], list[Expr]]:
    sign = select(n[2], as_expr(1), as_expr(-1))
    a = -1 / (sign + n[2])
    b = n[0] * n[1] * a
    return [1 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]], [b, sign + n[1] * n[1] * a, -n[1]]


def _cross(a: Triple, b: Triple) -> list[Expr]:
    return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]


def _dot(a: Triple, b: Triple) -> Expr:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
