"""Points modulo a prime: positions with unit quaternions and true rotations, any speeds.

Angles need nothing: their sines and cosines are points of the circle c² + s² = 1 (expr.residues).
Quaternions and rotation matrices are drawn from four residues by the rational map of the sphere,
so that every coordinate is a rational function of what is drawn.

Public names: random_point.
"""

from __future__ import annotations

from collections.abc import Sequence

from liaison.equations import Equations
from liaison.exact.residues import Residues
from liaison.expr import Expr


def random_point(equations: Equations, domain: Residues) -> dict[Expr, int]:
    """A residue for every position, speed, acceleration, input, parameter and time."""
    symbols = equations.symbols
    named = (symbols.t, *symbols.q, *symbols.v, *symbols.vdot, *symbols.u, *symbols.p)
    values = {x: domain.drawn("point", x.name) for x in named}
    for chart in equations.kinematics.charts:
        if chart.kind != "plain":
            q = symbols.q[chart.q]
            count = 4 if "matrix" not in chart.kind else 9
            attitude = q[len(q) - count :]
            drawn = [domain.drawn("attitude", x.name) for x in attitude[:4]]
            quaternion_or_matrix = (
                _unit(drawn, domain) if count == 4 else _rotation(drawn, domain.p)
            )
            values |= dict(zip(attitude, quaternion_or_matrix, strict=True))
    return values


def _unit(drawn: Sequence[int], domain: Residues) -> list[int]:
    """A unit quaternion: the sphere from its pole, (1 − t², 2 t)/(1 + t²)."""
    t = [x % domain.p for x in drawn[:3]]
    square = sum(x * x for x in t) % domain.p
    scale = domain.inverse(1 + square)
    return [(1 - square) * scale % domain.p, *(2 * x * scale % domain.p for x in t)]


def _rotation(drawn: Sequence[int], p: int) -> list[int]:
    """The nine entries of a rotation, from four residues that need not be of unit length."""
    w, x, y, z = drawn
    scale = pow(w * w + x * x + y * y + z * z, -1, p)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return [entry * scale % p for row in rows for entry in row]
