"""Where the leftover equations do not vanish on W: how much of W is left, and along which branches.

*Upper bound*: a random slice of W of dimension s on which h has the known point as isolated zero
proves dim V ≤ dim W − s. *Lower bounds*: deflation follows the set where the gradient of h vanishes
as well (a component on which V is non-reduced); branches follow the tangent cone of h.

Public names: Deflation, Branch, upper_bound, deflation, branches, hessians.

Source: CLO05 §4.2 (local rings, Nakayama); docs/theory/mobility.md (mobility-3, mobility-4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, final

from liaison.exact.linear import coefficients, inverse, matrix, pivots, rank, valued_rank
from liaison.exact.rings import Series

from .forms import Form, cone_points, forms_on, gradient_at, multiplicity
from .series import Germ, schur

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
        found = isolated_on_slice(germ, s, seed + 10 * s)
        if found is None:
            break
        bound, times = germ.dimension - s, found
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
    weights = _random_rows(min(len(germ.left), size + 2), len(germ.left), p, seed + 1)
    forms = forms_on(germ, basis, weights, 4 if size < 4 else 2)
    lowest = min((k for parts in forms for k, part in enumerate(parts) if part), default=0)
    cone = [parts[lowest] for parts in forms if lowest and parts[lowest]]
    if not cone:
        return []
    slice_ = _Slice(germ, basis, [w for w, f in zip(weights, forms, strict=True) if f[lowest]],
                    lowest)  # fmt: skip
    points = cone_points(cone, size, p)
    found = [slice_.branch(cone, v, order) for v in points if any(v)]
    return [branch for branch in found if branch is not None]


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
        return Branch(self.germ.rank + _schur_rank(self.germ, ring, x), order)

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
        found = []
        for i in rows:
            total = ring.zero
            for w, f in zip(self.weights[i], h, strict=True):
                total = total + f * w
            coefficients = [int(c) for c in total.coeffs()][self.lowest :]
            found.append(coefficients + [0] * (ring.order - self.lowest - len(coefficients)))
        return found


def _schur_rank(germ: Germ, ring: Series, x: list[Any]) -> int:
    """The rank of ∂h/∂t over the field of series; a few orders suffice to see it."""
    short = Series(germ.p, min(ring.order, 12))
    S = schur(germ, short, [a.truncate(short.order) for a in x])
    rows = [
        [short.of([M[i, j] for M in S]) for j in range(germ.dimension)]
        for i in range(len(germ.left))
    ]
    return valued_rank(rows, short)
