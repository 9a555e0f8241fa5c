"""Rotations by axis and angle, by Euler and Bryant angles, by quaternion; and back from numbers.

A rotation matrix R_AB takes components in B to components in A; its columns are the axes of B
expressed in A. Quaternions are (w, x, y, z), unit. The ways back (`..._of`) take numbers only.

Public names: Angles, rotation_x, rotation_y, rotation_z, rotation_about, rotation_euler_zxz,
rotation_bryant_xyz, rotation_quaternion, rotation_onto_z, quaternion_about, quaternion_product,
quaternion_of, axis_angle_of, euler_zxz_of, bryant_xyz_of, rotation_defect.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from liaison.expr import cos, sin

from .arrays import (
    Array,
    Entries,
    array,
    dot,
    is_zero,
    minus,
    number,
    plus,
    product,
    tilde,
    times,
    unit,
)

SINGULAR = 1e-7
"""Sine (Euler) or cosine (Bryant) of the middle angle below which the outer two are one."""


class Angles(NamedTuple):
    """Three angles [rad]; where `is_singular` only the sum or difference of first and third counts.

    There the third is 0 by choice.
    """

    first: float
    second: float
    third: float
    is_singular: bool


def rotation_x(angle: Any) -> Array:
    """R of a turn about x."""
    c, s = cos(angle), sin(angle)
    return array([[1, 0, 0], [0, c, minus(0, s)], [0, s, c]])


def rotation_y(angle: Any) -> Array:
    """R of a turn about y."""
    c, s = cos(angle), sin(angle)
    return array([[c, 0, s], [0, 1, 0], [minus(0, s), 0, c]])


def rotation_z(angle: Any) -> Array:
    """R of a turn about z."""
    c, s = cos(angle), sin(angle)
    return array([[c, minus(0, s), 0], [s, c, 0], [0, 0, 1]])


def rotation_about(axis: Entries, angle: Any) -> Array:
    """R = cos θ 1 + sin θ ũ + (1 − cos θ) u uᵀ about the direction u of `axis`.

    Source: RBDA §2.2 (Rodrigues).
    """
    u = unit(axis)
    for k, turn in enumerate((rotation_x, rotation_y, rotation_z)):
        if all(is_zero(u[i]) for i in range(3) if i != k) and abs(u[k]) == 1:
            return turn(times(1 if u[k] > 0 else -1, angle))
    c, s = cos(angle), sin(angle)
    across, rest = tilde(u), minus(1, c)
    R: list[list[Any]] = [[0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            entry = plus(times(s, across[i, j]), times(rest, times(u[i], u[j])))
            R[i][j] = plus(c, entry) if i == j else entry
    return array(R)


def rotation_euler_zxz(precession: Any, nutation: Any, spin: Any) -> Array:
    """R = R_z(ψ) R_x(θ) R_z(φ): Euler's angles."""
    return product(product(rotation_z(precession), rotation_x(nutation)), rotation_z(spin))


def rotation_bryant_xyz(first: Any, second: Any, third: Any) -> Array:
    """R = R_x(α) R_y(β) R_z(γ): Bryant's (Cardan) angles."""
    return product(product(rotation_x(first), rotation_y(second)), rotation_z(third))


def rotation_quaternion(e: Entries) -> Array:
    """R of a unit quaternion (w, x, y, z): 1 + 2 w ṽ + 2 ṽ²."""
    w, x, y, z = e
    xx, yy, zz = 2 * (x * x), 2 * (y * y), 2 * (z * z)
    xy, xz, yz = 2 * (x * y), 2 * (x * z), 2 * (y * z)
    wx, wy, wz = 2 * (w * x), 2 * (w * y), 2 * (w * z)
    return array(
        [
            [1 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1 - (xx + yy)],
        ]
    )


def rotation_onto_z(axis: Entries) -> Array:
    """A rotation whose third column is the direction of `axis`; exact for exact axes.

    The first column is the first of x, y, z (in the order x, y, z, most perpendicular kept exact)
    made perpendicular to the axis; for axis z it is the identity.
    """
    u = unit(axis)
    named = {(0, 0, 1): ((1, 0, 0), (0, 1, 0)), (1, 0, 0): ((0, 1, 0), (0, 0, 1))}
    named |= {(0, 1, 0): ((0, 0, 1), (1, 0, 0)), (0, 0, -1): ((1, 0, 0), (0, -1, 0))}
    named |= {(-1, 0, 0): ((0, 1, 0), (0, 0, -1)), (0, -1, 0): ((0, 0, 1), (-1, 0, 0))}
    for direction, (x, y) in named.items():
        if all(not hasattr(a, "op") and a == b for a, b in zip(u, direction, strict=True)):
            return array([[x[i], y[i], direction[i]] for i in range(3)])
    sizes = [abs(_size(a)) for a in u]
    k = sizes.index(min(sizes))
    across = unit([minus(int(i == k), times(u[k], u[i])) for i in range(3)])
    third = product(tilde(u), across)
    return array([[across[i], third[i], u[i]] for i in range(3)])


def _size(x: Any) -> float:
    value = number(x)
    return 1.0 if value is None else value


def quaternion_about(axis: Entries, angle: Any) -> Array:
    """(cos θ/2, sin θ/2 u): the unit quaternion of a turn."""
    half = angle / 2
    s = sin(half)
    return array([cos(half), *(times(s, a) for a in unit(axis))])


def quaternion_product(a: Entries, b: Entries) -> Array:
    """a ⊗ b, so that R(a ⊗ b) = R(a) R(b)."""
    w, x, y, z = a
    return array(
        [
            dot([w, minus(0, x), minus(0, y), minus(0, z)], b),
            dot([x, w, minus(0, z), y], b),
            dot([y, z, w, minus(0, x)], b),
            dot([z, minus(0, y), x, w], b),
        ]
    )


def quaternion_of(R: Any, near: Entries | None = None) -> Array:
    """Unit quaternion of a rotation matrix of numbers; of the two signs the one nearest `near`.

    The largest of the four components is found first, so no division is by a small number.
    Without `near`, w ≥ 0.

    Source: SHE78.
    """
    m = np.asarray(R, dtype=float)
    trace = m[0, 0] + m[1, 1] + m[2, 2]
    squares = [trace, m[0, 0], m[1, 1], m[2, 2]]
    k = squares.index(max(squares))
    e = np.zeros(4)
    if k == 0:
        e[:] = [1 + trace, m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
    else:
        i = k - 1
        j, n = (i + 1) % 3, (i + 2) % 3
        e[0] = m[n, j] - m[j, n]
        e[1 + i] = 1 + m[i, i] - m[j, j] - m[n, n]
        e[1 + j] = m[i, j] + m[j, i]
        e[1 + n] = m[i, n] + m[n, i]
    e /= np.linalg.norm(e)
    against = e[0] if near is None else float(np.dot(e, np.asarray(near, dtype=float)))
    return -e if against < 0 else e


def axis_angle_of(R: Any) -> tuple[Array, float]:
    """Unit axis and angle in [0, π] of a rotation matrix of numbers; z where there is no turn."""
    e = quaternion_of(R)
    s = float(np.linalg.norm(e[1:]))
    axis = e[1:] / s if s > 0 else np.array([0.0, 0.0, 1.0])
    return axis, 2 * math.atan2(s, float(e[0]))


def euler_zxz_of(R: Any) -> Angles:
    """Euler's angles (ψ, θ, φ) with θ in [0, π]; singular where θ is 0 or π."""
    m = np.asarray(R, dtype=float)
    s = math.hypot(m[0, 2], m[1, 2])
    nutation = math.atan2(s, m[2, 2])
    if s < SINGULAR:
        return Angles(math.atan2(m[1, 0], m[0, 0]), nutation, 0.0, True)
    return Angles(math.atan2(m[0, 2], -m[1, 2]), nutation, math.atan2(m[2, 0], m[2, 1]), False)


def bryant_xyz_of(R: Any) -> Angles:
    """Bryant's angles (α, β, γ) with β in [−π/2, π/2]; singular where β is ±π/2."""
    m = np.asarray(R, dtype=float)
    c = math.hypot(m[1, 2], m[2, 2])
    second = math.atan2(m[0, 2], c)
    if c < SINGULAR:
        return Angles(math.atan2(m[2, 1], m[1, 1]), second, 0.0, True)
    return Angles(math.atan2(-m[1, 2], m[2, 2]), second, math.atan2(-m[0, 1], m[0, 0]), False)


def rotation_defect(R: Any) -> float:
    """How far a matrix of numbers is from a rotation: largest entry of RᵀR − 1; 2 if it mirrors."""
    m = np.asarray(R, dtype=float)
    if np.linalg.det(m) < 0:
        return 2.0
    return float(np.max(np.abs(m.T @ m - np.eye(3))))
