"""Rigid motions with balls for numbers, real or complex: turns, products, inverses, twists.

Public names: Motion3, in_balls, moved, reversed_motion, turn_z, slide_z, applied, crossed, dotted,
rotation_of, rational_motion, quaternion_of_motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from liaison.spatial import Array

from .balls import balls, rounded

Vector: TypeAlias = list[Any]
Motion3: TypeAlias = tuple[list[Vector], Vector]
"""Rotation by rows, and translation."""


def in_balls(X: tuple[Array, Array]) -> Motion3:
    """A pose of exact numbers as balls of the present precision."""
    R, p = X
    flat = balls([*(x for row in R for x in row), *p])
    return [flat[0:3], flat[3:6], flat[6:9]], flat[9:12]


def dotted(a: Sequence[Any], b: Sequence[Any]) -> Any:
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def crossed(a: Sequence[Any], b: Sequence[Any]) -> Vector:
    """a × b."""
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def applied(R: Sequence[Sequence[Any]], v: Sequence[Any]) -> Vector:
    """R v."""
    return [dotted(row, v) for row in R]


def moved(A: Motion3, B: Motion3) -> Motion3:
    """A B: first B, then A."""
    columns = [applied(A[0], [B[0][0][j], B[0][1][j], B[0][2][j]]) for j in range(3)]
    turned = [[columns[j][i] for j in range(3)] for i in range(3)]
    return turned, [x + y for x, y in zip(applied(A[0], B[1]), A[1], strict=True)]


def reversed_motion(A: Motion3) -> Motion3:
    """A⁻¹."""
    back = [[A[0][j][i] for j in range(3)] for i in range(3)]
    return back, [-x for x in applied(back, A[1])]


def turn_z(angle: Any) -> Motion3:
    """A turn about z [rad]."""
    c, s = angle.cos(), angle.sin()
    zero = angle * 0
    return [[c, -s, zero], [s, c, zero], [zero, zero, zero + 1]], [zero, zero, zero]


def slide_z(way: Any) -> Motion3:
    """A slide along z [m]."""
    zero = way * 0
    one = zero + 1
    return [[one, zero, zero], [zero, one, zero], [zero, zero, one]], [zero, zero, way]


def rotation_of(q: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], ...]:
    """The exact rotation of a rational quaternion of any length."""
    w, x, y, z = q
    n = w * w + x * x + y * y + z * z
    return (
        ((w * w + x * x - y * y - z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n),
        (2 * (x * y + w * z) / n, (w * w - x * x + y * y - z * z) / n, 2 * (y * z - w * x) / n),
        (2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, (w * w - x * x - y * y + z * z) / n),
    )


def rational_motion(X: Motion3, digits: int) -> Motion3:
    """A rigid motion of rational numbers next to one of balls; it is exactly rigid."""
    turned_q, p = _quaternion(X[0]), X[1]
    turned = rotation_of([rounded(x, digits) for x in turned_q])
    return [list(row) for row in turned], [rounded(x, digits) for x in p]


def _quaternion(R: Sequence[Sequence[Any]]) -> list[Any]:
    """A quaternion of a rotation, of any length."""
    sizes = [float(R[0][0] + R[1][1] + R[2][2]), *(float(R[k][k]) for k in range(3))]
    first = max(range(4), key=sizes.__getitem__)
    odd = (R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1])
    if first == 0:
        q = [1 + R[0][0] + R[1][1] + R[2][2], *odd]
    else:
        k = first - 1
        q = [odd[k], *(R[k][j] + R[j][k] for j in range(3))]
        q[1 + k] = 1 + 2 * R[k][k] - R[0][0] - R[1][1] - R[2][2]
    return q


def quaternion_of_motion(X: Motion3) -> list[Any]:
    """A dual quaternion q + ε t q/2 of a rigid motion, of any length: eight entries."""
    w, x, y, z = _quaternion(X[0])
    a, b, c = (u / 2 for u in X[1])
    dual = [-a * x - b * y - c * z, a * w + b * z - c * y, b * w + c * x - a * z,
            c * w + a * y - b * x]  # fmt: skip
    return [w, x, y, z, *dual]
