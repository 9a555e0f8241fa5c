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

The same proves real branches of a singular position. There the leftover equations h have lowest
forms F of degree k on the free unknowns t. With t = s u, at a real u₀ where F = 0 and c derivatives
of F are independent, c of the equations h(s u)/s^k = 0 cut out a real manifold N of dimension
d − c. Where the others vanish on N, too, that is the real dimension. For a rational u₀ this is
decided modulo a prime: N is cut to a curve by a random slice through u₀, which is followed as a
power series and proved as a path is. Slices in general position sweep over all of N.

Public names: proof_of, rational_branch, reduced, value_and_slopes.

Source: FUL69 ch. 8 (as many zeros as poles); docs/theory/mobility.md (mobility-14, mobility-15).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.exact.linear import Series, valuation
from liaison.exact.signs import Terms
from liaison.freedoms.clock import go_on
from liaison.freedoms.screws import Factor, LoopSystem

from .obstruction import branch_along
from .pairs import SLACK, Proof, dependence, tree_proof
from .series import Germ

Floats: TypeAlias = NDArray[np.float64]

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


# Real branches along rational directions ----------------------------------------------------------

STARTS = 24
"""Points from which a real direction is looked for."""

DIRECTIONS = 4
"""Directions that are followed at most."""

DENOMINATOR = 2000
"""Largest denominator of a direction that is taken for a rational one."""

FIRST, LAST = 24, 200
"""Orders to which a branch is followed."""


def rational_branch(exact: LoopSystem, forms: Sequence[Terms], high: int, p: int) -> str | None:
    """How a real branch of dimension `high` is proved; None where none is.

    Args:
        exact: the loops over the rational numbers.
        forms: lowest forms of the leftover equations, with rational coefficients.
        high: a bound of the dimension.
        p: a prime.
    """
    if exact.relations or exact.curved or any(f.pitch is not None for x in exact.loops for f in x):
        return None
    germ = Germ(reduced(exact, p))
    for direction in islice(_directions(forms, germ.dimension, high), DIRECTIONS):
        go_on()
        residues = [x.numerator * pow(x.denominator, -1, p) % p for x in direction]
        order = _proved(germ, residues, high)
        if order is not None:
            return (
                f"a real branch of dimension {high} along a rational direction: followed to order "
                f"{order}, beyond the zeros of any equation on its curve (as many zeros as poles)"
            )
    return None


def reduced(system: LoopSystem, p: int) -> LoopSystem:
    """Loops of rational screws modulo a prime."""

    def residue(x: Any) -> int:
        exact = Fraction(int(x.p), int(x.q)) if hasattr(x, "q") else Fraction(int(x))
        return exact.numerator * pow(exact.denominator, -1, p) % p

    loops = [[Factor(f.column, f.sign, tuple(residue(x) for x in f.screw)) for f in loop]
             for loop in system.loops]  # fmt: skip
    return LoopSystem(p, system.n, loops)


def _proved(germ: Germ, direction: Sequence[int], high: int) -> int | None:
    """The order that proves the branch in a direction; None where it is not proved."""
    assert isinstance(germ.system, LoopSystem)
    order = FIRST
    while order <= LAST:
        branch = branch_along(germ, direction, high, order)
        if branch is None or branch.rank != germ.system.n - high:
            return None
        # the last terms of a path with divided equations are not yet right
        ring = Series(germ.p, order)
        path = [x.truncate(order) for x in branch.path]
        # the equations of the slice hold the free unknowns
        proof = proof_of(path, ring, [*germ.system.groups_of_columns(), germ.free])
        if proof is not None and proof.order <= order:
            return order
        order = 2 * order if proof is None else max(proof.order, order + 1)
    return None


def _directions(forms: Sequence[Terms], d: int, high: int) -> Iterator[list[Fraction]]:
    """Rational points of linear pieces of the cone on which all forms vanish."""
    table = [[(np.array(e), float(v.p) / float(v.q)) for e, v in form.items()] for form in forms]
    draw = np.random.default_rng(d)
    seen: set[tuple[Fraction, ...]] = set()
    for _ in range(STARTS):
        u = _zero(table, draw.normal(size=d), d - high)
        basis = None if u is None else _rational_kernel(value_and_slopes(table, u)[1], high)
        if basis is None or basis in seen:
            continue
        seen.add(basis)
        weights = [Fraction(int(w)) for w in draw.integers(1, 8, size=high)]
        yield [sum((w * basis[i * d + j] for i, w in enumerate(weights)), Fraction(0))
               for j in range(d)]  # fmt: skip


def _zero(table: Any, u: Floats, rank: int) -> Floats | None:
    """A zero of the forms by Newton's steps on the `rank` largest singular values."""
    for _ in range(60):
        u = u / np.linalg.norm(u)
        value, J = value_and_slopes(table, u)
        if np.max(np.abs(value)) < 1e-14:
            break
        U, s, V = np.linalg.svd(J, full_matrices=False)
        if len(s) < rank or s[rank - 1] < 1e-6:
            return None
        u = u - V[:rank].T @ ((U[:, :rank].T @ value) / s[:rank])
    value, J = value_and_slopes(table, u)
    sizes = np.linalg.svd(J, compute_uv=False)
    is_smooth = bool(np.sum(sizes > 1e-6) == rank)
    return u if np.max(np.abs(value)) < 1e-12 and is_smooth else None


def value_and_slopes(table: Any, u: Floats) -> tuple[Floats, Floats]:
    """Forms given by exponents and coefficients, and their Jacobian, at a point in floats."""
    value, J = np.zeros(len(table)), np.zeros((len(table), len(u)))
    for i, form in enumerate(table):
        for e, c in form:
            value[i] += c * np.prod(u**e)
            for k in np.flatnonzero(e):
                lower = e.copy()
                lower[k] -= 1
                J[i, k] += c * e[k] * np.prod(u**lower)
    return value, J


def _rational_kernel(J: Floats, size: int) -> tuple[Fraction, ...] | None:
    """A reduced basis of the kernel, row after row, of simple fractions; None if it has none."""
    rows = np.linalg.svd(J)[2][J.shape[1] - size :].copy()
    for i in range(size):
        j = int(np.argmax(np.abs(rows[i])))
        rows[i] = rows[i] / rows[i, j]
        for k in range(size):
            if k != i:
                rows[k] = rows[k] - rows[k, j] * rows[i]
    entries = [Fraction(float(x)).limit_denominator(DENOMINATOR) for x in rows.ravel()]
    close = all(abs(float(f) - x) < 1e-9 for f, x in zip(entries, rows.ravel(), strict=True))
    return tuple(entries) if close else None
