"""A path that lies on an algebraic curve of low degree: few terms of its series prove the closure.

Let x(s) be a path of the germ W, known modulo s^K. Where its entries satisfy

    P(s, y) = 0,   q_j(s) x_j = Σ_k p_jk(s) y^k                             (mobility-14)

to that order, these relations define a curve C exactly, with the function field F(s, y), and a
branch x̃ on it that agrees with x to an order K′. On the smooth model of C the function s has at
most b = deg_y P poles, y at most deg_s P, and so x̃_j at most

    δ_j = b · deg(q_j, p_jk) + (b − 1) · deg_s P.                           (mobility-15)

An equation of degree one in each unknown that it holds has at most Σ δ_j poles on C, hence at most
as many zeros. If it vanishes at home to an order K′ beyond that, it vanishes on C: the path closes
for ever. A rational curve (y is not needed) has b = 1.

Where the field of all unknowns is too large, pairs of unknowns may still satisfy relations of low
degree, R(x_u, x_v) = 0. A tree of them defines x̃ as well, one unknown after the other: R has one
root near the series (Hensel). On the curve of the unknowns of one loop, and of those that join them
in the tree, x_v has at most as many poles as the product of the degrees of the tree's relations,
each in the unknown that is farther from v.

Public names: Proof, proof_of.

Source: FUL69 ch. 8 (as many zeros as poles); docs/theory/mobility.md (mobility-14, mobility-15).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, final

from liaison.exact.linear import Series, valuation
from liaison.freedoms.clock import go_on

from .pairs import SLACK, Proof, dependence, tree_proof

SHEETS = (2, 3, 4, 6, 8)
"""Degrees of P in y that are tried."""

TRIES = 3
"""Functions tried for y."""


@final
@dataclass(frozen=True, slots=True)
class _Curve:
    """An algebraic curve through home that agrees with a path to an order.

    Attributes:
        sheets: b, the degree over the line of s.
        poles: δ_j, a bound for the poles of each unknown.
        loss: by how much the order to which it agrees with the path is less than the path's.
    """

    sheets: int
    poles: tuple[int, ...]
    loss: int


def proof_of(path: Sequence[Any], ring: Series, groups: Sequence[Sequence[int]]) -> Proof | None:
    """The order that proves what a path satisfies; None where it lies on no curve of low degree.

    Args:
        path: a series in s for each unknown, without constant term.
        ring: of the series; its order is that of the path.
        groups: unknowns of each set of equations, which are of degree one in each of them.
    """
    curve = _curve_of(path, ring)
    if curve is not None:
        most = max((sum(curve.poles[k] for k in group) for group in groups), default=0)
        kind = ("a rational curve" if curve.sheets == 1
                else f"an algebraic curve of {curve.sheets} sheets")  # fmt: skip
        return Proof(most + curve.loss + 1, kind)
    return tree_proof(path, ring, groups)


def _curve_of(path: Sequence[Any], ring: Series) -> _Curve | None:
    """The curve of low degree on which a path lies to its order; None if there is none."""
    simple = [_ratio(x, ring) for x in path]
    left = [k for k, ratio in enumerate(simple) if ratio is None]
    if not left:
        poles = tuple(ratio[0] for ratio in simple if ratio is not None)
        return _Curve(1, poles, max((r[1] for r in simple if r is not None), default=0))
    weights: dict[int, int] = {left[0]: 1}
    draw = Random(ring.order)
    for _ in range(TRIES):
        go_on()
        curve, missing = _sheeted(path, simple, weights, ring)
        if missing is None:
            return curve
        weights[missing] = draw.randrange(1, 100)
    return None


def _ratio(x: Any, ring: Series) -> tuple[int, int] | None:
    """Degree of x as a quotient of polynomials in s, and valuation of the denominator.

    By Euclid's algorithm on s^K and x; None where the degrees leave no terms to check it.
    """
    if x.is_zero():
        return 0, 0
    zero, one = ring.zero, ring.one
    r, rest = one.left_shift(ring.order), x
    t, factor = zero, one
    while 2 * rest.degree() >= ring.order:
        quotient = r // rest
        r, rest = rest, r - quotient * rest
        t, factor = factor, t - quotient * factor
    degree = max(rest.degree(), factor.degree())
    if factor.is_zero() or 2 * degree + SLACK > ring.order:
        return None
    return degree, valuation(factor, ring.order)


def _sheeted(
    path: Sequence[Any], simple: Sequence[Any], weights: dict[int, int], ring: Series
) -> tuple[_Curve | None, int | None]:
    """The curve over the function y = Σ w x_j; the first unknown that is not on it, if there is
    one."""
    y = ring.zero
    for k, w in weights.items():
        y = y + path[k] * w
    plane = _plane_curve(y, ring)
    if plane is None:
        return None, None
    b, height, slope = plane
    powers = _powers(y, b, ring)
    poles, losses = [], [0]
    for k, (x, ratio) in enumerate(zip(path, simple, strict=True)):
        if ratio is not None:
            poles.append(b * ratio[0])
            losses.append(ratio[1])
            continue
        entry = _over(x, powers, ring)
        if entry is None:
            return None, (k if k not in weights else None)
        poles.append(b * entry[0] + (b - 1) * height)
        losses.append(entry[1])
    loss = slope + max(losses)
    return (_Curve(b, tuple(poles), loss) if 2 * slope + loss < ring.order else None), None


def _powers(y: Any, b: int, ring: Series) -> list[Any]:
    powers = [ring.one]
    for _ in range(b):
        powers.append(ring.mul(powers[-1], y))
    return powers


def _plane_curve(y: Any, ring: Series) -> tuple[int, int, int] | None:
    """deg_y P, deg_s P and the valuation of ∂P/∂y along the path, of a relation P(s, y) = 0."""
    for b in SHEETS:
        powers = _powers(y, b, ring)
        relation = _relation(powers, (ring.order - SLACK) // (b + 1) - 1, ring)
        if relation is None:
            continue
        slope = ring.zero
        for k in range(1, b + 1):
            slope = slope + ring.mul(relation[k], powers[k - 1]) * k
        return b, max(c.degree() for c in relation), valuation(slope, ring.order)
    return None


def _over(x: Any, powers: Sequence[Any], ring: Series) -> tuple[int, int] | None:
    """Degree of q x = Σ p_k y^k, and the valuation of q."""
    b = len(powers) - 1
    others = list(powers[:b])
    relation = _relation([*others, x], (ring.order - SLACK) // (b + 1) - 1, ring)
    if relation is None or relation[-1].is_zero():
        return None
    return max(c.degree() for c in relation), valuation(relation[-1], ring.order)


def _relation(functions: Sequence[Any], most: int, ring: Series) -> list[Any] | None:
    """Polynomials c_k(s) of low degree with Σ c_k f_k = 0 to the order; None if there are none.

    They are sought on as few terms as their coefficients ask for, and checked on all.
    """
    degree = 1
    while degree <= most:
        columns = [f.left_shift(a) for a in range(degree + 1) for f in functions]
        entries = dependence(columns, ring)
        if entries is not None:
            return [ring.of(entries[k :: len(functions)]) for k in range(len(functions))]
        degree = most if degree < most < 2 * degree else 2 * degree
    return None
