"""Six-vectors moved by rotation and offset: the arithmetic of the sweeps, without frame tags.

A pose is a pair (R, p) = (R_AB, p_AB). Motions are (angular, linear), forces (moment, force),
both at the origin of the frame they are expressed in. No 6×6 matrix is formed; entries are
numbers or formulas, and what is zero by construction costs nothing. A rigid body's inertia is
the triple (m, m c, I) with c and I about the origin of its frame.

Public names: compose, inverse, act_motion, act_motion_inverse, act_force, act_force_inverse,
cross_motion, cross_force, apply_inertia, move_inertia, act_point.

Source: RBDA §2.2, §2.8, §2.10 and appendix A.
Differs: RBDA's ᴮX_A is the inverse of our X_AB acting on motions.
"""

from __future__ import annotations

from typing import Any

from .arrays import Array, array, cross3, dot, minus, plus, product, times


def compose(R_AB: Array, p_AB: Array, R_BC: Array, p_BC: Array) -> tuple[Array, Array]:
    """(R_AC, p_AC) of X_AC = X_AB X_BC."""
    return product(R_AB, R_BC), act_point(R_AB, p_AB, p_BC)


def inverse(R: Array, p: Array) -> tuple[Array, Array]:
    """(Rᵀ, −Rᵀ p): the pose the other way round."""
    back = _rotated(R.T.tolist(), p.tolist())
    return R.T, array([minus(0, x) for x in back])


def act_point(R: Array, p: Array, x: Array) -> Array:
    """R x + p: a point of B expressed in A."""
    return array(_sum(p.tolist(), _rotated(R.tolist(), x.tolist())))


def act_motion(R: Array, p: Array, V: Array) -> Array:
    """A motion transformed from B to A: (R ω, R v + p × R ω)."""
    rows, entries = R.tolist(), V.tolist()
    omega = _rotated(rows, entries[:3])
    linear = _rotated(rows, entries[3:])
    return array(omega + _sum(linear, cross3(p.tolist(), omega)))


def act_motion_inverse(R: Array, p: Array, V: Array) -> Array:
    """A motion transformed from A to B: (Rᵀ ω, Rᵀ (v − p × ω))."""
    columns, entries = R.T.tolist(), V.tolist()
    omega = entries[:3]
    linear = _difference(entries[3:], cross3(p.tolist(), omega))
    return array(_rotated(columns, omega) + _rotated(columns, linear))


def act_force(R: Array, p: Array, F: Array) -> Array:
    """A force transformed from B to A: (R n + p × R f, R f)."""
    rows, entries = R.tolist(), F.tolist()
    force = _rotated(rows, entries[3:])
    moment = _rotated(rows, entries[:3])
    return array(_sum(moment, cross3(p.tolist(), force)) + force)


def act_force_inverse(R: Array, p: Array, F: Array) -> Array:
    """A force transformed from A to B: (Rᵀ (n − p × f), Rᵀ f)."""
    columns, entries = R.T.tolist(), F.tolist()
    force = entries[3:]
    moment = _difference(entries[:3], cross3(p.tolist(), force))
    return array(_rotated(columns, moment) + _rotated(columns, force))


def cross_motion(V: Array, W: Array) -> Array:
    """V × W of two motions: (ω × w_ω, ω × w_v + v × w_ω)."""
    a, b = V.tolist(), W.tolist()
    linear = _sum(cross3(a[:3], b[3:]), cross3(a[3:], b[:3]))
    return array(cross3(a[:3], b[:3]) + linear)


def cross_force(V: Array, F: Array) -> Array:
    """V ×* F of a motion with a force: (ω × n + v × f, ω × f)."""
    a, b = V.tolist(), F.tolist()
    moment = _sum(cross3(a[:3], b[:3]), cross3(a[3:], b[3:]))
    return array(moment + cross3(a[:3], b[3:]))


def apply_inertia(m: Any, mc: Array, I_origin: Array, V: Array) -> Array:
    """The inertia (m, m c, I) on a motion: (I ω + m c × v, m v − m c × ω)."""
    entries, arm = V.tolist(), mc.tolist()
    omega, linear = entries[:3], entries[3:]
    moment = _sum(_rotated(I_origin.tolist(), omega), cross3(arm, linear))
    return array(moment + _difference([times(m, x) for x in linear], cross3(arm, omega)))


def move_inertia(
    R: Array, p: Array, m: Any, mc: Array, I_origin: Array
) -> tuple[Any, Array, Array]:
    """The inertia (m, m c, I) of a body transformed from B to A (about A's origin).

    With h = R m c:  I_A = R I Rᵀ + (2 p·h + m p·p) 1 − p hᵀ − h pᵀ − m p pᵀ  (Huygens twice).
    """
    rows, offset = R.tolist(), p.tolist()
    arm = _rotated(rows, mc.tolist())
    moved = [times(m, x) for x in offset]
    half = _sum(arm, moved)
    turned = [_rotated(I_origin.tolist(), row) for row in rows]
    trace = plus(dot(offset, arm), dot(offset, half))
    tensor: list[list[Any]] = [[0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(i + 1):
            mixed = plus(times(offset[i], half[j]), times(arm[i], offset[j]))
            entry = minus(dot(rows[i], turned[j]), mixed)
            tensor[i][j] = tensor[j][i] = plus(entry, trace) if i == j else entry
    return m, array(half), array(tensor)


def _rotated(rows: list[list[Any]], x: list[Any]) -> list[Any]:
    return [dot(row, x) for row in rows]


def _sum(a: list[Any], b: list[Any]) -> list[Any]:
    return [plus(x, y) for x, y in zip(a, b, strict=True)]


def _difference(a: list[Any], b: list[Any]) -> list[Any]:
    return [minus(x, y) for x, y in zip(a, b, strict=True)]
