"""Loops of screws in floats: twists, the loop matrix, and second derivatives of the closure.

Public names: twists_of, loop_matrix, second_derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.expr import as_expr, evaluate
from liaison.freedoms.home import Home

from .formulas import tau, taylor

Floats = NDArray[np.float64]


def numbers(values: Any) -> Floats:
    """Exact constants as floats."""
    return np.array(evaluate([as_expr(x) for x in values]), dtype=float)


def twists_of(home: Home) -> list[list[Floats]]:
    """Twists of each joint's motions, angular first, at ground's origin."""
    values = numbers(home.formulas())
    by_joint, k = [], 0
    for group in home.motions:
        twists = []
        for motion in group:
            d, point, pitch = np.split(values[7 * k : 7 * k + 7], (3, 6))
            slide = np.concatenate([np.zeros(3), d])
            turn = np.concatenate([d, np.cross(point, d) + pitch * d])
            twists.append(slide if motion.point is None else turn)
            k += 1
        by_joint.append(twists)
    return by_joint


def loop_matrix(home: Home, twists: list[list[Floats]]) -> Floats:
    """Six rows a loop, a column for each joint freedom; then the relations."""
    starts = np.cumsum([0, *map(len, twists)])
    J = np.zeros((6 * len(home.loops) + len(home.relations.rows), int(starts[-1])))
    for i, loop in enumerate(home.loops):
        for joint, sign in loop:
            for k, twist in enumerate(twists[joint]):
                J[6 * i : 6 * i + 6, starts[joint] + k] += sign * twist
    for i, relation in enumerate(home.relations.rows):
        for column, ratio, _ in relation:
            J[6 * len(home.loops) + i, column] += float(evaluate(ratio))
    return J


def second_derivatives(home: Home, twists: list[list[Floats]]) -> list[Floats]:
    """Of each loop equation in the τ's: s_i s_j for i before j around the loop.

    The advance of a screw joint and gears between angles have no second derivative at home.
    """
    starts = np.cumsum([0, *map(len, twists)])
    n = int(starts[-1])
    derivatives = []
    for loop in home.loops:
        listed = []
        for joint, sign in loop:
            group = [(starts[joint] + k, sign * s) for k, s in enumerate(twists[joint])]
            listed += group if sign > 0 else group[::-1]
        rows = np.zeros((6, n, n))
        for a, (i, s) in enumerate(listed):
            for j, t in listed[a + 1 :]:
                product = _vector_part(s, t)
                rows[:, i, j] += product
                rows[:, j, i] += product
        derivatives += list(rows)
    linear = len(home.relations.rows) - len(home.relations.curved)
    return derivatives + [np.zeros((n, n)) for _ in range(linear)] + _bent(home, n)


def _bent(home: Home, n: int) -> list[Floats]:
    """Second derivatives of relations that are formulas of τ, by the factor of their gradients."""
    if not home.relations.curved:
        return []
    _, second = taylor(home.relations.curved, {tau(k): 0 for k in range(n)})
    return [x / 2 for x in second]


def _vector_part(s: Floats, t: Floats) -> Floats:
    """Of the product of two screws as dual quaternions."""
    dual = np.cross(s[:3], t[3:]) + np.cross(s[3:], t[:3])
    return np.concatenate([np.cross(s[:3], t[:3]), dual])
