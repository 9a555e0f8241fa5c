"""What holds where a wheel or a ball rolls on a plane, as formulas of the relative pose.

Seen from the plane's marker, with the center at p, the axis a of the disc and the arm ρ from the
center to the lowest point of the rim,

    ρ = r (a_z a − e_z)/√(1 − a_z²)   (of a ball ρ = −r e_z),                    (rolling-1)

the point touches, p_z + ρ_z = 0, and does not slip, e_k · (ṗ + ω × ρ) = 0 for k = x, y.

Public names: height, slips.

Source: docs/theory/closures.md (rolling-1).
"""

from __future__ import annotations

from typing import Any

from liaison.expr import Expr, as_expr, sqrt
from liaison.spatial.arrays import Array, array, cross, identity


def height(kind: str, radius: Any, R: Array, p: Array) -> Expr:
    """p_z + ρ_z: how far the lowest point is above the plane."""
    return as_expr(p[2] + arm(kind, radius, R)[2])


def slips(kind: str, radius: Any, R: Array) -> list[tuple[tuple[Expr, ...], tuple[Expr, ...]]]:
    """For the slip along x and along y, what multiplies ω and what multiplies ṗ."""
    rho = arm(kind, radius, R)
    axes = identity()[:2]
    return [
        (tuple(as_expr(x) for x in cross(rho, axis)), tuple(as_expr(x) for x in axis))
        for axis in axes
    ]


def arm(kind: str, radius: Any, R: Array) -> Array:
    """ρ by (rolling-1)."""
    if kind == "ball":
        return array([0, 0, -radius])
    x, y, z = R[:, 2]
    level = as_expr(sqrt(x * x + y * y))
    return array([radius * z * x / level, radius * z * y / level, -(radius * level)])
