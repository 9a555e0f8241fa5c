"""Where the leftover equations do not vanish on W: how much of W is left, and along which branches.

*Upper bound*: a random slice of W of dimension s on which h has the known point as isolated zero
proves dim V ≤ dim W − s. *Lower bounds*: deflation follows the set where the gradient of h vanishes
as well (a component on which V is non-reduced); branches follow the tangent cone of h.

A form is a dictionary from exponents to residues. The forms of h on a linear slice of W are
interpolated from paths: the coefficient of s^k along the direction u is the k-th form at u.

Public names: Deflation, Branch, upper_bound, deflation, branches, hessians, Form, monomials,
forms_on, multiplicity, cone_points, gradient_at.

Source: CLO05 §2.4 (points from eigenvectors of multiplication), §4.2 (local rings, Nakayama, local
multiplicity); docs/theory/mobility.md (mobility-3, mobility-4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any, TypeAlias, final

from liaison.exact.linear import (
    Series,
    coefficients,
    inverse,
    kernel,
    matrix,
    pivots,
    rank,
    valued_rank,
)
from liaison.freedoms.clock import go_on

from .series import Germ, schur

Form: TypeAlias = dict[tuple[int, ...], int]


@lru_cache(maxsize=256)
def monomials(variables: int, degree: int) -> tuple[tuple[int, ...], ...]:
    """Exponents of all monomials of one degree."""
    if variables == 1:
        return ((degree,),)
    return tuple(
        (first, *rest)
        for first in range(degree, -1, -1)
        for rest in monomials(variables - 1, degree - first)
    )


def evaluated(exponents: Sequence[tuple[int, ...]], u: Sequence[int], p: int) -> list[int]:
    """The monomials at a point."""
    values = []
    for powers in exponents:
        value = 1
        for x, e in zip(u, powers, strict=True):
            value = value * pow(x, e, p) % p
        values.append(value)
    return values


def forms_on(
    germ: Germ, basis: Sequence[Sequence[int]], weights: Sequence[Sequence[int]], degree: int
) -> list[list[Form]]:
    """Forms of combinations of h on a slice of W, up to a degree.

    Args:
        germ: W and its leftover equations h.
        basis: vectors of free unknowns that span the slice.
        weights: a combination of the leftover equations in each row.
        degree: the highest wanted.

    Returns:
        For each combination its forms of degree 0, 1, …, degree in coordinates of the basis.
    """
    p, s = germ.p, len(basis)
    ring = Series(p, degree + 1)
    draw = Random(s * 7919 + degree)
    count = len(monomials(s, degree))
    points = [[draw.randrange(p) for _ in range(s)] for _ in range(count)]
    samples = [_along(germ, ring, _combined(basis, u, p), weights) for u in points]
    return [
        [_fitted(points, [sample[j][k] for sample in samples], s, k, p) for k in range(degree + 1)]
        for j in range(len(weights))
    ]


def _combined(basis: Sequence[Sequence[int]], u: Sequence[int], p: int) -> list[int]:
    return [sum(a * b for a, b in zip(u, column, strict=True)) % p
            for column in zip(*basis, strict=True)]  # fmt: skip


def _along(
    germ: Germ, ring: Series, t: Sequence[int], weights: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Coefficients of combinations of h along a straight line of free unknowns."""
    x = germ.lift(ring, [ring.of([0, v]) for v in t])
    h = [[int(c) for c in f.coeffs()] for f in germ.leftover(ring, x)]
    padded = [c + [0] * (ring.order - len(c)) for c in h]
    return [
        [sum(w * c[k] for w, c in zip(row, padded, strict=True)) % germ.p
         for k in range(ring.order)] for row in weights
    ]  # fmt: skip


def _fitted(
    points: Sequence[Sequence[int]], values: Sequence[int], s: int, degree: int, p: int
) -> Form:
    """The form that takes these values at the first points."""
    exponents = monomials(s, degree)
    if not any(values):
        return {}
    table = [evaluated(exponents, u, p) for u in points[: len(exponents)]]
    solution = matrix(table, p).solve(matrix([[v] for v in values[: len(exponents)]], p))
    form = {e: int(solution[i, 0]) for i, e in enumerate(exponents)}
    return {e: c for e, c in form.items() if c}


def multiplicity(forms: Sequence[Sequence[Form]], variables: int, p: int) -> int | None:
    """dim F_p[[u]]/(h), if the forms known prove it finite; None if they do not.

    D_k = dim F_p[u]/((h) + m^{k+1}) stops growing exactly when m^k lies in the ideal (Nakayama).
    """
    degree = len(forms[0]) - 1 if forms else 0
    before = 1
    for k in range(1, degree + 1):
        go_on()
        size = _quotient(forms, variables, k, p)
        if size == before:
            return size
        before = size
    return None


def _quotient(forms: Sequence[Sequence[Form]], variables: int, k: int, p: int) -> int:
    """D_k, from the rank of a Macaulay matrix."""
    columns = {e: i for i, e in enumerate(
        [e for d in range(k + 1) for e in monomials(variables, d)])}  # fmt: skip
    rows = []
    for parts in forms:
        lowest = next((d for d, part in enumerate(parts) if part), k + 1)
        for d in range(k - lowest + 1):
            for shift in monomials(variables, d):
                rows.append(_shifted(parts[: k - d + 1], shift, columns))
    return len(columns) - rank(rows, p)


def _shifted(
    parts: Sequence[Form], shift: tuple[int, ...], columns: dict[tuple[int, ...], int]
) -> list[int]:
    row = [0] * len(columns)
    for part in parts:
        for e, c in part.items():
            row[columns[tuple(a + b for a, b in zip(e, shift, strict=True))]] = c
    return row


def gradient_at(form: Form, u: Sequence[int], p: int) -> list[int]:
    """∂form/∂u at a point."""
    gradient = []
    for i in range(len(u)):
        total = 0
        for e, c in form.items():
            if e[i]:
                lower = (*e[:i], e[i] - 1, *e[i + 1 :])
                total += c * e[i] * evaluated([lower], u, p)[0]
        gradient.append(total % p)
    return gradient


def cone_points(forms: Sequence[Form], variables: int, p: int) -> list[list[int]]:
    """Points over F_p of a finite set in projective space, those of multiplicity one only.

    The kernel of a Macaulay matrix of high degree is spanned by the monomials at the points; two
    linear functions on it have the points as common eigenvectors.
    """
    degree = max(sum(e) for form in forms for e in form)
    if variables == 1:
        return []
    for D in range(degree, degree * variables + 3):
        go_on()
        K = _macaulay_kernel(forms, variables, D, p)
        L = _macaulay_kernel(forms, variables, D + 1, p)
        if len(K) == len(L):
            return _eigenpoints(L, variables, D, p)
    return []


def _macaulay_kernel(forms: Sequence[Form], variables: int, D: int, p: int) -> list[list[int]]:
    columns = {e: i for i, e in enumerate(monomials(variables, D))}
    rows = []
    for form in forms:
        degree = sum(next(iter(form))) if form else D + 1
        if degree <= D:
            rows += [_shifted([form], shift, columns) for shift in monomials(variables, D - degree)]
    return kernel(rows, p, len(columns))


def _eigenpoints(K: list[list[int]], variables: int, D: int, p: int) -> list[list[int]]:
    """Points from the kernel in degree D + 1, through eigenvectors of one coordinate function."""
    draw = Random(variables + 31 * D)
    columns = {e: i for i, e in enumerate(monomials(variables, D + 1))}
    small = monomials(variables, D)
    A, B = (_restricted(K, small, columns, [draw.randrange(p) for _ in range(variables)], p)
            for _ in range(2))  # fmt: skip
    rows, columns_of_minor = pivots(A, p)
    if len(columns_of_minor) < len(K):
        return []
    M = inverse([A[i] for i in rows], p) * matrix([B[i] for i in rows], p)
    points = []
    for root, power in M.charpoly().roots():
        if power == 1:
            shifted = [[int(M[i, j]) - (int(root) if i == j else 0) for j in range(len(K))]
                       for i in range(len(K))]  # fmt: skip
            c = kernel(shifted, p, len(K))[0]
            points.append(
                _point(
                    [
                        sum(a * b for a, b in zip(c, column, strict=True)) % p
                        for column in zip(*K, strict=True)
                    ],
                    columns,
                    variables,
                    p,
                )
            )
    return points  # fmt: skip


def _restricted(
    K: list[list[int]], small: Any, columns: dict[tuple[int, ...], int], linear: list[int], p: int
) -> list[list[int]]:
    """Rows: monomials of degree D times a linear form; columns: kernel vectors."""
    rows = []
    for e in small:
        places = [columns[(*e[:i], e[i] + 1, *e[i + 1 :])] for i in range(len(e))]
        rows.append([sum(c * vector[j] for c, j in zip(linear, places, strict=True)) % p
                      for vector in K])  # fmt: skip
    return rows


def _point(
    values: list[int], columns: dict[tuple[int, ...], int], variables: int, p: int
) -> list[int]:
    """The point at which the monomials take these values, up to a factor."""
    total = sum(next(iter(columns)))
    for i in range(variables):
        power = tuple(total if j == i else 0 for j in range(variables))
        if values[columns[power]]:
            return [values[columns[_exchanged(power, i, j)]] for j in range(variables)]
    return [0] * variables


def _exchanged(power: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    """x_i^d with one factor x_i changed to x_j."""
    listed = list(power)
    listed[i] -= 1
    listed[j] += 1
    return tuple(listed)


DEGREES = (0, 12, 8, 6, 5, 4)
"""Highest degree of the forms looked at on a slice of dimension 1, 2, …."""


@final
@dataclass(frozen=True, slots=True)
class Deflation:
    """A germ of dimension dim W − ρ on which h and its gradient vanish to an order."""

    dimension: int
    order: int
    holds: bool


@final
@dataclass(frozen=True, slots=True)
class Branch:
    """A smooth branch of V on a random slice, through the known point."""

    rank: int  # of the Jacobian along it
    order: int  # to which it satisfies every equation
    path: tuple[Any, ...] = ()  # the unknowns as series


def _random_rows(count: int, width: int, p: int, seed: int) -> list[list[int]]:
    draw = Random(seed)
    return [[draw.randrange(p) for _ in range(width)] for _ in range(count)]


def isolated_on_slice(germ: Germ, s: int, seed: int) -> int | None:
    """The multiplicity of the known point on a random slice of dimension s; None if not shown."""
    p = germ.p
    degree = DEGREES[s] if s < len(DEGREES) else 3
    basis = _random_rows(s, germ.dimension, p, seed)
    weights = _random_rows(min(len(germ.left), s + 2), len(germ.left), p, seed + 1)
    return multiplicity(forms_on(germ, basis, weights, degree), s, p)


def upper_bound(germ: Germ, least: int, seed: int = 1) -> tuple[int, int]:
    """dim V at the point is at most this; and the multiplicity on the last slice that shows it.

    Args:
        germ: W with leftover equations that do not all vanish on it.
        least: a lower bound; no slice is tried that could only contradict it.
        seed: of the slices.
    """
    bound, times = germ.dimension, 1
    for s in range(1, germ.dimension - least + 1):
        isolated = isolated_on_slice(germ, s, seed + 10 * s)
        if isolated is None:
            break
        bound, times = germ.dimension - s, isolated
    return bound, times


def hessians(germ: Germ) -> list[list[int]]:
    """∂²h_j/∂t_l∂t_k as rows (j, l), columns k: L (∂J along tangent k) N, L and N the kernels."""
    ring = Series(germ.p, 2)
    N, L = germ.tangent(), germ.combinations()
    columns = []
    for k in range(germ.dimension):
        x = [ring.of([0, N[j, k]]) for j in range(germ.system.n)]
        S = L * coefficients(germ.system.jacobian(ring, x), ring)[1] * N
        columns.append([int(value) for value in S.entries()])
    return [list(row) for row in zip(*columns, strict=True)]


def deflation(germ: Germ, H: list[list[int]], order: int = 8, seed: int = 3) -> Deflation:
    """Follows a random path on {f_P = 0, ∂h/∂t = 0}, of dimension dim W − rank of the Hessians."""
    p, ring = germ.p, Series(germ.p, order)
    rows, columns = pivots(H, p)
    remaining = germ.dimension - len(columns)
    if remaining == 0:
        return Deflation(0, order, True)
    back = inverse([[H[i][k] for k in columns] for i in rows], p)
    slopes = germ.direction(seed)
    t = [ring.zero if k in columns else ring.of([0, slopes[k]]) for k in range(germ.dimension)]
    x: list[Any] = []
    for _ in range(order):
        x = germ.lift(ring, t, x)
        S = schur(germ, ring, x)
        if all(_is_zero(M) for M in S):
            break
        values = [[int(M[i // germ.dimension, i % germ.dimension]) for M in S] for i in rows]
        steps = back * matrix(values, p)
        for i, k in enumerate(columns):
            t[k] = t[k] - ring.of([steps[i, m] for m in range(order)])
    x = germ.lift(ring, t, x)
    holds = all(f.is_zero() for f in germ.leftover(ring, x))
    return Deflation(remaining, order, holds and all(_is_zero(M) for M in schur(germ, ring, x)))


def _is_zero(M: Any) -> bool:
    return not any(int(x) for x in M.entries())


def branches(germ: Germ, dimension: int, order: int, seed: int = 5) -> list[Branch]:
    """Branches of V of a dimension, each cut to a curve by random hyperplanes.

    Their directions are the points over F_p of the tangent cone on the slice, where that is smooth;
    each is followed by Newton's steps on h(s u)/s^k = 0 and kept if all of h vanishes on it.
    """
    p, size = germ.p, germ.dimension - dimension + 1
    basis = _random_rows(size, germ.dimension, p, seed)
    slice_, cone = _sliced(germ, basis, seed)
    if not cone:
        return []
    points = cone_points(cone, size, p)
    curves = [slice_.branch(cone, v, order) for v in points if any(v)]
    return [branch for branch in curves if branch is not None]


def branch_along(
    germ: Germ, direction: Sequence[int], dimension: int, order: int, seed: int = 5
) -> Branch | None:
    """The branch of V of a dimension that leaves in a direction, cut to a curve by a random slice.

    Args:
        germ: W.
        direction: of its free unknowns, on the tangent cone where that is smooth.
        dimension: of the branch.
        order: to which it is followed.
        seed: of the slice.
    """
    others = _random_rows(germ.dimension - dimension, germ.dimension, germ.p, seed)
    slice_, cone = _sliced(germ, [list(direction), *others], seed)
    return slice_.branch(cone, [1] + [0] * len(others), order) if cone else None


def _sliced(
    germ: Germ, basis: Sequence[Sequence[int]], seed: int
) -> tuple[_Slice, list[Form]]:  # fmt: skip
    """Equations on a slice of W, and their lowest forms, all of one degree."""
    size = len(basis)
    weights = _random_rows(min(len(germ.left), size + 2), len(germ.left), germ.p, seed + 1)
    forms = forms_on(germ, basis, weights, 4 if size < 4 else 2)
    lowest = min((k for parts in forms for k, part in enumerate(parts) if part), default=0)
    used = [w for w, f in zip(weights, forms, strict=True) if f[lowest]]
    cone = [parts[lowest] for parts in forms if lowest and parts[lowest]]
    return _Slice(germ, basis, used, lowest), cone


@dataclass
class _Slice:
    """Coordinates u on a slice of W, and the equations h(s u)/s^k of the combinations there."""

    germ: Germ
    basis: Sequence[Sequence[int]]
    weights: Sequence[Sequence[int]]
    lowest: int

    def branch(self, cone: list[Form], v: list[int], order: int) -> Branch | None:
        """The branch that leaves in direction v, if it is smooth and all of h vanishes on it."""
        p = self.germ.p
        fixed = next(i for i, x in enumerate(v) if x)
        moving = [i for i in range(len(v)) if i != fixed]
        slopes = [[gradient_at(form, v, p)[i] for i in moving] for form in cone]
        if rank(slopes, p) < len(moving):
            return None
        rows, _ = pivots(slopes, p)
        back = inverse([slopes[i] for i in rows], p)
        ring = Series(p, order + self.lowest)
        x = self._followed(ring, v, (moving, rows, back))
        if not all(f.is_zero() for f in self.germ.leftover(ring, x)):
            return None
        return Branch(self.germ.rank + _schur_rank(self.germ, ring, x), order, tuple(x))

    def _followed(self, ring: Series, v: list[int], newton: tuple[Any, Any, Any]) -> list[Any]:
        moving, rows, back = newton
        u = [ring.of([a]) for a in v]
        x: list[Any] = []
        for _ in range(ring.order):
            t = [self._combined(ring, u, k).left_shift(1).truncate(ring.order)
                 for k in range(self.germ.dimension)]  # fmt: skip
            x = self.germ.lift(ring, t, x)
            values = self._equations(ring, x, rows)
            if not any(any(line) for line in values):
                break
            steps = back * matrix(values, ring.p)
            for i, k in enumerate(moving):
                u[k] = u[k] - ring.of([steps[i, m] for m in range(steps.ncols())])
        return x

    def _combined(self, ring: Series, u: list[Any], k: int) -> Any:
        total = ring.zero
        for a, vector in zip(u, self.basis, strict=True):
            total = total + a * vector[k]
        return total

    def _equations(self, ring: Series, x: list[Any], rows: list[int]) -> list[list[int]]:
        """Coefficients of h(s u)/s^k for some combinations."""
        h = self.germ.leftover(ring, x)
        equations = []
        for i in rows:
            total = ring.zero
            for w, f in zip(self.weights[i], h, strict=True):
                total = total + f * w
            coefficients = [int(c) for c in total.coeffs()][self.lowest :]
            equations.append(coefficients + [0] * (ring.order - self.lowest - len(coefficients)))
        return equations


def _schur_rank(germ: Germ, ring: Series, x: list[Any]) -> int:
    """The rank of ∂h/∂t over the field of series; a few orders suffice to see it."""
    short = Series(germ.p, min(ring.order, 12))
    S = schur(germ, short, [a.truncate(short.order) for a in x])
    rows = [
        [short.of([M[i, j] for M in S]) for j in range(germ.dimension)]
        for i in range(len(germ.left))
    ]
    return valued_rank(rows, short)
