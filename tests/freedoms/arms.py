"""Arms of six hinges from Denavit–Hartenberg tables, and where their hands are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from liaison.expr import PI
from liaison.model import Fixed, Mechanism, Prismatic, Revolute
from liaison.model.describe import body, ground, join, mechanism, turned


def arm(
    a: Sequence[Any], alpha: Sequence[Any], d: Sequence[Any], sliders: Sequence[int] = ()
) -> Mechanism:
    """Hinges q1 … q6 about z, each followed by T_z(d) T_x(a) R_x(α); the hand is behind the last.

    Args:
        a: lengths [m].
        alpha: twists, in multiples of π/180.
        d: offsets [m].
        sliders: places of joints that slide along z instead.
    """
    parts, below = [], ground.at((0, 0, 0))
    for k in range(6):
        link = body(f"link{k + 1}", mass=1)
        kind = Prismatic if k in sliders else Revolute
        parts.append(join(below, link, kind, name=f"q{k + 1}"))
        below = link.at((a[k], 0, d[k]), turned("x", alpha[k] * PI / 180))
    parts.append(join(below, body("hand", mass=1), Fixed, name="flange"))
    return mechanism(*parts, name="arm")


def hand_pose(
    a: Any, alpha: Any, d: Any, q: Sequence[float], sliders: Sequence[int] = ()
) -> tuple[Any, Any]:
    """(R, p) of the hand, in floats, by plain products of matrices."""
    T = np.eye(4)
    for k in range(6):
        turn, way = (0.0, q[k]) if k in sliders else (q[k], 0.0)
        c, s = math.cos(turn), math.sin(turn)
        ca, sa = math.cos(math.radians(alpha[k])), math.sin(math.radians(alpha[k]))
        T = T @ np.array(
            [
                [c, -s * ca, s * sa, float(a[k]) * c],
                [s, c * ca, -c * sa, float(a[k]) * s],
                [0, sa, ca, float(d[k]) + way],
                [0, 0, 0, 1],
            ]
        )
    return T[:3, :3], T[:3, 3]
