"""Attitudes from angular velocities: multiplicative steps, with Edwards' correction.

Between two instants the body turns by a rotation vector; its quaternion is multiplied onto the
attitude, so that this stays a rotation whatever the step is:

    Δ = ½ (ω₀ + ω₁) h,   Δ* = Δ + ¹⁄₁₂ Δ⁻ × Δ,
    Q₁ = Q₀ ⊗ (cos β/2, sin β/2 Δ*/β),   β = |Δ*|                                     (attitude-1)

Δ⁻ belongs to the step before. The correction is for an axis that turns within the step (coning),
of order h³. The trapezoid itself is off by as much, so with it the order stays 2; with a better
∫ω dt it becomes 3.

Public names: turns, attitudes, quaternion_product, RULES.

Source: LL 4.4.5 (4.5); BOR71 (the rotation vector and coning).
Differs: the first step, which has none before it, takes the correction of the second.
"""

from __future__ import annotations

import numpy as np

from liaison.errors import NamingError, SimulationError

from .state import Array

RULES = ("trapezoid", "parabola", "simpson")
"""How ω is integrated: by its ends; by a parabola through the instant before too; by the ends and
the middle of each step."""


def turns(omega: Array, step: float, rule: str = "trapezoid") -> Array:
    """∫ω dt over each step.

    Args:
        omega: angular velocity in the body's own axes [rad/s], shape (n + 1, 3); for "simpson" at
            the middles too, shape (2 n + 1, 3).
        step: time between instants, h [s]; between every second one for "simpson".
        rule: "trapezoid" (of order 2), "parabola" (3) or "simpson" (4).

    Returns:
        Shape (n, 3).
    """
    w: Array = np.asarray(omega, dtype=float)
    if rule not in RULES:
        raise NamingError.unknown("rule", rule, RULES)
    least = {"trapezoid": 2, "parabola": 3, "simpson": 3}[rule]
    if w.ndim != 2 or w.shape[1] != 3 or len(w) < least or (rule == "simpson" and len(w) % 2 == 0):
        odd = ", an odd number of them" if rule == "simpson" else ""
        raise SimulationError(
            f"omega has shape {w.shape}; rule {rule!r} needs rows of three, {least} or more{odd}."
        )
    if rule == "trapezoid":
        return np.asarray((w[:-1] + w[1:]) * (step / 2))
    if rule == "simpson":
        return np.asarray((w[:-2:2] + 4 * w[1:-1:2] + w[2::2]) * (step / 6))
    first = (5 * w[0] + 8 * w[1] - w[2]) * (step / 12)
    rest = (5 * w[2:] + 8 * w[1:-1] - w[:-2]) * (step / 12)
    return np.vstack([first, rest])


def attitudes(delta: Array, start: Array, *, edwards: bool = True) -> Array:
    """Quaternions (w, x, y, z) at every instant, from the turns between them.

    Args:
        delta: ∫ω dt of each step, from `turns` or from a gyroscope that integrates, shape (n, 3).
        start: the first quaternion.
        edwards: add ¹⁄₁₂ Δ⁻ × Δ.

    Returns:
        Shape (n + 1, 4), of unit length as `start` is.
    """
    vectors = np.array(delta, dtype=float)
    if edwards and len(vectors) > 1:
        coning = np.cross(vectors[:-1], vectors[1:]) / 12
        vectors += np.vstack([coning[:1], coning])
    angle = np.linalg.norm(vectors, axis=1)
    half = 0.5 * np.sinc(angle / (2 * np.pi))  # sin(β/2)/β
    steps = np.column_stack([np.cos(angle / 2), vectors * half[:, None]])
    quaternions = np.empty((len(vectors) + 1, 4))
    quaternions[0] = start
    for k, p in enumerate(steps):
        quaternions[k + 1] = quaternion_product(quaternions[k], p)
    return quaternions


def quaternion_product(a: Array, b: Array) -> Array:
    """a b of quaternions w x y z; components first, and then any shape."""
    w, x, y, z = a
    s, i, j, k = b
    return np.array(
        [
            w * s - x * i - y * j - z * k,
            w * i + x * s + y * k - z * j,
            w * j - x * k + y * s + z * i,
            w * k + x * j - y * i + z * s,
        ]
    )
