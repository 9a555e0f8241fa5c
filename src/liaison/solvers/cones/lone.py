"""One contact alone, with friction along one line or none: its force in closed form.

    u = A f + b,   0 ≤ f_n ⟂ u_n ≥ 0,   |f_t| ≤ μ f_n,   f_t against u_t             (lone-1)

is open, sticks or slips one way: at most four linear problems of one or two rows. Where normal and
tangent are coupled so strongly that more than one of them may hold (Painlevé), or the force is not
exact to rounding, nothing is returned, and whoever calls takes the general way.

Public names: NOT_ALONE, lone_contact.

Source: ACA ch. 3 (planar contact); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.program.loops.records import Rows

from .table import DISC, ONE_WAY, Cone, Limit

NOT_ALONE = -1.0
"""Returned where the problem is not of this kind."""

EXACT = 1e-13
"""Residual beside 1 + Σ |y| up to which a force is exact."""

APART = 1e-6
"""Part of the mobility along the normal that has to be left by the coupling with the tangent."""


@loop
def lone_contact(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr
) -> f64:
    """f of (lone-1) and the residual of its natural map, as `solve_cones` gives it; or NOT_ALONE.

    Args:
        m: rows, 1 or 2.
        nb: blocks: a load alone, or with a disc of one row that it bounds.
        A: mobility, row-major.
        b: rates without forces.
        blocks: what kind of rows they are.
        limits: of every block.
        f: result.
    """
    if nb > 2 or m != nb or blocks[0].kind != ONE_WAY or limits[0].constant != 0.0:
        return NOT_ALONE
    if not (A[0] > 0.0):
        return NOT_ALONE
    if nb == 1:
        f[0] = max(-b[0] / A[0], 0.0)
        return 0.0 if abs(b[0]) < 1e300 and f[0] < 1e300 else NOT_ALONE
    if blocks[1].kind != DISC or blocks[1].load != 0 or limits[1].constant != 0.0:
        return NOT_ALONE
    return with_friction(A, b, max(limits[1].coefficient[0], 0.0), f)


@loop
def with_friction(A: ptr, b: ptr, mu: f64, f: ptr) -> f64:
    """The same of a normal and a tangent row."""
    a = A[0]
    c = A[1]
    d = A[3]
    rest = a * d - c * c
    if not (d > 0.0 and rest > APART * a * d and a - mu * abs(c) > APART * a):
        return NOT_ALONE
    normal = 0.0
    tangent = 0.0
    if b[0] < 0.0:
        normal = (c * b[1] - d * b[0]) / rest
        tangent = (c * b[0] - a * b[1]) / rest
        if not (abs(tangent) <= mu * normal):
            # it slips: the way in which friction is against the rate
            normal = -b[0] / (a - mu * c)
            tangent = -mu * normal
            if b[1] + c * normal + d * tangent < 0.0:
                normal = -b[0] / (a + mu * c)
                tangent = mu * normal
    f[0] = normal
    f[1] = tangent
    return checked_residual(A, b, mu, f)


@loop
def checked_residual(A: ptr, b: ptr, mu: f64, f: ptr) -> f64:
    """The residual in scaled rows, NOT_ALONE where more than rounding is left."""
    s = 1.0 / sqrt(A[0])
    t = 1.0 / sqrt(A[3])
    beta = max(s * abs(b[0]), t * abs(b[1]))
    if not (beta > 0.0 and beta < 1e300):
        return NOT_ALONE if beta != 0.0 else 0.0
    y = f[0] / (beta * s)
    x = f[1] / (beta * t)
    u = s * (b[0] + A[0] * f[0] + A[1] * f[1]) / beta
    w = t * (b[1] + A[2] * f[0] + A[3] * f[1]) / beta
    r = mu * s / t * y
    miss = max(abs(min(y, u)), abs(max(x - r, min(x + r, w))))
    return miss if miss <= EXACT * (1.0 + abs(y) + abs(x)) else NOT_ALONE
