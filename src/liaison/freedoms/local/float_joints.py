"""Displacements of a joint from its neutral position, in floats, from the poses of its markers.

Public names: displacement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.expr import as_expr, evaluate
from liaison.freedoms.motions import Motion, Transform, motions_of
from liaison.model import Joint
from liaison.spatial import array, identity, zeros

Floats = NDArray[np.float64]

STARTS = 8
"""Points from which the displacements are looked for."""


def displacement(
    joint: Joint, motions: Sequence[Motion], markers: tuple[Transform, Transform]
) -> list[float] | None:
    """τ of each motion, so that their product takes the neutral pose of M in F to the one seen.

    Args:
        joint: whose coordinates are near `motions`' neutral ones.
        motions: as in an opened loop; their number must be that of the joint's.
        markers: poses of F and M in floats.
    """
    neutral = list(joint.type.neutral())
    R0, p0 = joint.type.pose(array(neutral))
    own = motions_of(joint, (identity(3), zeros(3)), (R0, p0), neutral)
    if len(own) != len(motions):
        return None
    (RF, pF), (RM, pM) = (tuple(_floats(x) for x in X) for X in markers)
    R, p = RF.T @ RM, RF.T @ (pM - pF)
    N, c = _floats(R0), _floats(p0)
    turned = R @ N.T  # of M from neutral, in F
    target = (turned, p - turned @ c)
    screws = [(_floats(m.direction), None if m.point is None else _floats(m.point)) for m in own]
    draw = np.random.default_rng(5)
    for k in range(STARTS):
        x = np.zeros(len(own)) if k == 0 else draw.uniform(-3, 3, size=len(own))
        solution = _fitted(screws, target, x)
        if solution is not None:
            return [float(np.tan(q / 2)) if point is not None else float(q / 2)
                    for q, (_, point) in zip(solution, screws, strict=True)]  # fmt: skip
    return None


def _floats(x: Any) -> Floats:
    shape = np.shape(x)
    return np.array(evaluate([as_expr(e) for e in np.ravel(x)]), dtype=float).reshape(shape)


def _moved(screws: Sequence[Any], x: Floats) -> tuple[Floats, Floats]:
    R, p = np.eye(3), np.zeros(3)
    for (d, point), q in zip(screws, x, strict=True):
        if point is None:
            p = p + R @ (d * q)
            continue
        K = np.array([[0, -d[2], d[1]], [d[2], 0, -d[0]], [-d[1], d[0], 0]])
        turn = np.eye(3) + np.sin(q) * K + (1 - np.cos(q)) * K @ K
        R, p = R @ turn, p + R @ (point - turn @ point)
    return R, p


def _fitted(screws: Sequence[Any], target: tuple[Floats, Floats], x: Floats) -> Floats | None:
    """Gauss-Newton on the entries of the pose."""

    def residual(x: Floats) -> Floats:
        R, p = _moved(screws, x)
        return np.concatenate([(R - target[0]).ravel(), p - target[1]])

    for _ in range(40):
        f = residual(x)
        if np.max(np.abs(f)) < 1e-11:
            return x
        J = np.array([(residual(x + 1e-7 * e) - f) / 1e-7 for e in np.eye(len(x))]).T
        step = np.linalg.lstsq(J, f, rcond=1e-10)[0]
        x = x - step * min(1.0, 1.0 / max(float(np.linalg.norm(step)), 1e-300))
    return x if np.max(np.abs(residual(x))) < 1e-6 else None
