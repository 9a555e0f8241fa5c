"""Pairs of bodies that may touch: two balls, a ball and a plane, as one kernel for each class.

A body is told by the place of its center of mass and its quaternion, (x, y, z, w, a, b, c). A ball
has its center c on its body and a radius r; one of radius 0 is a point, such as the corner of a
box. With n from the first ball to the second, or off the plane,

    g = |c₂ − c₁| − r₁ − r₂,   or   g = n·c − d − r,                            (pairs-1)

and three rows for each body, along n and two tangents s, tell the rate of what touches: (ρ × s, s)
on (ω, velocity of the center of mass), both in the axes of the ground, ρ being the arm of the
point that touches; with the sign turned for the first body.

Public names: pair_program, PAIR_ROWS.

Source: docs/theory/time_stepping.md; DUFF17 (tangents of a normal without singular direction).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeAlias

from liaison.expr import Expr, as_expr, select, sqrt, symbol

from .program import Entry, Program

Triple: TypeAlias = Sequence[Expr]

PAIR_ROWS = 37
"""Doubles of a pair: the gap, three rows on the first body, three on the second."""

TINY = 1e-24  # square of a distance [m²], so that centers that coincide have some normal


@cache
def pair_program() -> Program:
    """Entries ball_plane, ball_ball (gap and rows) and ball_plane_gap, ball_ball_gap.

    Arguments: q and v are the poses of the first and the second body, p and u the balls on them,
    (cx, cy, cz, r). Of a ball and a plane the ball is the second, and p the plane: n, d.
    """
    arrays = {"q": 7, "v": 7, "p": 4, "u": 4}
    names = {x: [symbol(f"{x}[{i}]") for i in range(n)] for x, n in arrays.items()}
    q, v, p, u = names["q"], names["v"], names["p"], names["u"]
    ball, plane = _balls(q, v, p, u), _plane(v, p, u)
    found = {
        "ball_ball": ball, "ball_plane": plane,
        "ball_ball_gap": ball[:1], "ball_plane_gap": plane[:1],
    }  # fmt: skip
    return Program(
        "pairs",
        {name: Entry(name, tuple(as_expr(x) for x in made)) for name, made in found.items()},
        {x: (array, i) for array, listed in names.items() for i, x in enumerate(listed)},
        sizes={"nq": 7, "nv": 7, "nu": 4, "np": 4, "nx": 0, "nc": 0, "nphi": 0},
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
