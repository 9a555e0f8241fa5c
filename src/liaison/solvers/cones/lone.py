"""One contact alone, with friction along one line or none: its force in closed form.

    u = A f + b,   0 ≤ f_n ⟂ u_n ≥ 0,   |f_t| ≤ μ f_n,   f_t against u_t             (lone-1)

is open, sticks or slips one way: at most four linear problems of one or two rows. Where normal and
tangent are coupled so strongly that more than one of them may hold (Painlevé), or the force is not
exact to rounding, nothing is returned, and whoever calls takes the general way.

Beside it a stop may be active, a gap without friction. It is open, or closed: then what is left of
the contact, with u_s = 0, is (lone-1) again with

    A − a_s a_sᵀ/a_ss,   b − a_s b_s/a_ss                                            (lone-2)

Public names: NOT_ALONE, lone_contact, contact_and_stop, STOP_WORDS.

Source: ACA ch. 3 (planar contact); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.program.loops.language import at, f64, i64, loop, ptr
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


STOP_WORDS = 8
"""Numbers that `contact_and_stop` works in."""


@loop
def contact_and_stop(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr, work: ptr
) -> f64:
    """As `lone_contact`, of two gaps of which one has friction along one line, or none has.

    Args:
        m: rows, 2 or 3.
        nb: blocks: two loads, or these with a disc of one row that one of them bounds.
        A: mobility, row-major.
        b: rates without forces.
        blocks: what kind of rows they are; the disc is the last.
        limits: of every block.
        f: result.
        work: STOP_WORDS numbers.
    """
    if nb < 2 or nb > 3 or m != nb or blocks[0].kind != ONE_WAY or blocks[1].kind != ONE_WAY:
        return NOT_ALONE
    if limits[0].constant != 0.0 or limits[1].constant != 0.0:
        return NOT_ALONE
    n = 1
    if nb == 3:
        n = int(blocks[2].load)
        if blocks[2].kind != DISC or n < 0 or limits[2].constant != 0.0:
            return NOT_ALONE
    mu = max(limits[2].coefficient[0], 0.0) if nb == 3 else 0.0
    s = 1 - n
    both = A[n * m + n] * A[s * m + s]
    if not (both - A[s * m + n] * A[n * m + s] > APART * both):
        return NOT_ALONE  # they repeat each other: how they share a load is for the general method
    for is_closed in range(2):
        if beside_stop(is_closed, s, n, m, A, b, mu, f, work) == 1:
            return pair_residual(s, n, m, A, b, mu, f)
    return NOT_ALONE


@loop
def beside_stop(
    is_closed: i64, s: i64, n: i64, m: i64, A: ptr, b: ptr, mu: f64, f: ptr, work: ptr
) -> i64:
    """1 if the forces of (lone-1), or (lone-2), go with a stop that is open, or closed."""
    t = 2
    reduced = work
    rates = at(work, 4)
    forces = at(work, 6)
    part = 1.0 / A[s * m + s] if is_closed == 1 else 0.0
    for i in range(m - 1):
        row = n if i == 0 else t
        rates[i] = b[row] - part * A[row * m + s] * b[s]
        for j in range(m - 1):
            column = n if j == 0 else t
            taken = part * A[row * m + s] * A[s * m + column]
            reduced[i * (m - 1) + j] = A[row * m + column] - taken
    if m == 2:
        if not (reduced[0] > APART * A[n * m + n]):
            return 0
        forces[0] = max(-rates[0] / reduced[0], 0.0)
    elif with_friction(reduced, rates, mu, forces) < 0.0:
        return 0
    rate = b[s] + A[s * m + n] * forces[0]
    f[n] = forces[0]
    if m == 3:
        rate += A[s * m + t] * forces[1]
        f[t] = forces[1]
    f[s] = -part * rate
    is_so = 1 if rate >= 0.0 else 0
    return is_so if is_closed == 0 else 1 - is_so


@loop
def pair_residual(s: i64, n: i64, m: i64, A: ptr, b: ptr, mu: f64, f: ptr) -> f64:
    """The residual of all rows, scaled; NOT_ALONE where more than rounding is left."""
    beta = 0.0
    for i in range(m):
        beta = max(beta, abs(b[i]) / sqrt(A[i * m + i]))
    if not (beta > 0.0 and beta < 1e300):
        return NOT_ALONE if beta != 0.0 else 0.0
    miss = 0.0
    size = 1.0
    for i in range(m):
        scale = 1.0 / sqrt(A[i * m + i])
        rate = b[i]
        for j in range(m):
            rate += A[i * m + j] * f[j]
        y = f[i] / (beta * scale)
        u = scale * rate / beta
        size += abs(y)
        if i < 2:
            miss = max(miss, abs(min(y, u)))
        else:
            r = mu * f[n] / (beta * scale)
            miss = max(miss, abs(max(y - r, min(y + r, u))))
    return miss if miss <= EXACT * size else NOT_ALONE
