"""Newton in F_p[[s]]: a path on the equations that are independent at first order.

Let J be the Jacobian at the known point, of rank r. Its r pivot rows f_P = 0 cut out a smooth germ
W of dimension n − r, which holds the variety V: the pivot unknowns y are power series of the
n − r free ones t. What the leftover equations h do along a path of W shows whether V is all of W.

Public names: Germ, schur.

Source: FUL98 example 8.4.6 (the refined theorem of Bézout bounds how often h can vanish on the
path without vanishing on it); docs/theory/mobility.md (mobility-2).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, final

from liaison.exact.linear import (
    Series,
    block,
    coefficients,
    inverse,
    matrix,
    pivots,
    series_inverse,
    series_product,
)
from liaison.freedoms.clock import go_on
from liaison.freedoms.screws import System

SHORT = 16
"""Up to this order one coefficient a step is quicker than doubling."""

FIRST = 12
"""Order from which doubling begins: 12 · 2⁶ is just beyond the 721 that six hinges ask for."""


@final
class Germ:
    """The smooth germ W of the pivot equations of a system, at its known point.

    Attributes:
        rows, columns: pivots of the Jacobian; `left` and `free` are the others.
    """

    def __init__(self, system: System, home: list[list[int]] | None = None) -> None:
        self.system, self.p = system, system.p
        J = system.jacobian_home() if home is None else home
        self.rows, self.columns = pivots(J, self.p)
        chosen = set(self.rows)
        self.left = [i for i in range(system.size) if i not in chosen]
        self.free = [j for j in range(system.n) if j not in set(self.columns)]
        self.rank, self.dimension = len(self.rows), len(self.free)
        self._inverse = inverse([[J[i][j] for j in self.columns] for i in self.rows], self.p)
        self._home = J

    def tangent(self) -> Any:
        """A basis of the kernel of J: a column for each free unknown."""
        n, d = self.system.n, self.dimension
        rows = [[0] * d for _ in range(n)]
        for k, j in enumerate(self.free):
            rows[j][k] = 1
        if self.rows and d:
            B = matrix([[self._home[i][j] for j in self.free] for i in self.rows], self.p)
            Y = self._inverse * B
            for i, j in enumerate(self.columns):
                rows[j] = [-int(Y[i, k]) for k in range(d)]
        return matrix(rows, self.p, d)

    def combinations(self) -> Any:
        """A basis of the left kernel of J: a row for each leftover equation."""
        rows = [[0] * self.system.size for _ in self.left]
        for k, i in enumerate(self.left):
            rows[k][i] = 1
        if self.rows and self.left:
            C = matrix([[self._home[i][j] for j in self.columns] for i in self.left], self.p)
            Z = C * self._inverse
            for k in range(len(self.left)):
                for m, i in enumerate(self.rows):
                    rows[k][i] = -int(Z[k, m])
        return matrix(rows, self.p, self.system.size)

    def direction(self, seed: int) -> list[int]:
        """Random values for the free unknowns."""
        draw = Random(seed * 1_000_003 + self.system.n)
        return [draw.randrange(1, self.p) for _ in self.free]

    def lift(
        self,
        ring: Series,
        t: Sequence[Any],
        start: Sequence[Any] = (),
        short: Sequence[Any] = (),
    ) -> list[Any]:
        """x(s) on W whose free unknowns are the series t, which vanish at s = 0.

        Args:
            ring: its order is that to which f_P(x(s)) = 0.
            t: a series for each free unknown.
            start: an x near it, to begin from coefficient by coefficient.
            short: the same x to lower order, where a high order is wanted.
        """
        x = list(start) or [ring.zero] * self.system.n
        for j, value in zip(self.free, t, strict=True):
            x[j] = value
        if ring.order > SHORT and not start:
            return self._doubled(ring, x, short)
        return self._stepped(ring, x)

    def _stepped(self, ring: Series, x: list[Any]) -> list[Any]:
        """One more coefficient at each step, with the Jacobian of the known point."""
        for _ in range(ring.order + 1):
            go_on()
            values = self.system.values(ring, x)
            residual = [values[i] for i in self.rows]
            if all(f.is_zero() for f in residual):
                return x
            self._correct(ring, x, residual)
        raise ArithmeticError("Newton's steps do not close the pivot equations")

    def _correct(self, ring: Series, x: list[Any], residual: list[Any]) -> None:
        """y ← y − J⁻¹ f_P, coefficient by coefficient."""
        lists = [[int(c) for c in f.coeffs()] for f in residual]
        width = max(map(len, lists))
        table = [c + [0] * (width - len(c)) for c in lists]
        steps = self._inverse * matrix(table, self.p)
        for i, j in enumerate(self.columns):
            x[j] = x[j] - ring.of([steps[i, k] for k in range(width)])

    def _doubled(self, ring: Series, x: list[Any], short: Sequence[Any]) -> list[Any]:
        """Twice as many coefficients at each step; the inverse Jacobian follows as a series."""
        order = FIRST
        goal = {j: x[j] for j in self.free}
        first = [a.truncate(order) for a in x]
        for j in self.columns if short else ():
            first[j] = short[j]
        x = self._stepped(Series(self.p, order), first)
        A = self._inverse_series(x, order)
        while order < ring.order:
            go_on()
            wider = Series(self.p, min(2 * order, ring.order))
            for j, a in goal.items():
                x[j] = a.truncate(wider.order)
            residual = [self.system.values(wider, x)[i] for i in self.rows]
            for i, j in enumerate(self.columns):
                step = wider.zero
                for k, f in enumerate(residual):
                    step = step + wider.mul(A[i][k], f)
                x[j] = x[j] - step
            order = wider.order
            if order < ring.order:
                A = self._sharper(A, x, order)
        return x

    def _pivot_jacobian(self, ring: Series, x: Sequence[Any]) -> list[list[Any]]:
        J = self.system.jacobian(ring, x)
        return [[J[i][j] for j in self.columns] for i in self.rows]

    def _inverse_series(self, x: list[Any], order: int) -> list[list[Any]]:
        ring = Series(self.p, order)
        inverse_terms = series_inverse(coefficients(self._pivot_jacobian(ring, x), ring))
        size = self.rank
        return [
            [ring.of([M[i, j] for M in inverse_terms]) for j in range(size)] for i in range(size)
        ]

    def _sharper(self, A: list[list[Any]], x: list[Any], order: int) -> list[list[Any]]:
        """A (2 − J A): the inverse to twice the order."""
        ring = Series(self.p, order)
        error = _matmul(ring, self._pivot_jacobian(ring, x), A)
        for i in range(self.rank):
            error[i][i] = error[i][i] - ring.one
        change = _matmul(ring, A, error)
        return [[a - c for a, c in zip(*rows, strict=True)] for rows in zip(A, change, strict=True)]

    def leftover(self, ring: Series, x: Sequence[Any]) -> list[Any]:
        """h along a path."""
        values = self.system.values(ring, x)
        return [values[i] for i in self.left]


def _matmul(ring: Series, A: list[list[Any]], B: list[list[Any]]) -> list[list[Any]]:
    product = []
    for row in A:
        go_on()
        line = []
        for j in range(len(B[0])):
            total = ring.zero
            for k, a in enumerate(row):
                total = total + ring.mul(a, B[k][j])
            line.append(total)
        product.append(line)
    return product


def schur(germ: Germ, ring: Series, x: Sequence[Any]) -> list[Any]:
    """∂h/∂t on W along a path, as coefficient matrices: J_Lt − J_Ly J_Py⁻¹ J_Pt."""
    p = germ.p
    J = coefficients(germ.system.jacobian(ring, x), ring)
    A = [block(M, germ.rows, germ.columns, p) for M in J]
    B = [block(M, germ.rows, germ.free, p) for M in J]
    C = [block(M, germ.left, germ.columns, p) for M in J]
    D = [block(M, germ.left, germ.free, p) for M in J]
    if not germ.rows or not germ.left:
        return D
    moved = series_product(series_product(C, series_inverse(A)), B)
    return [a - b for a, b in zip(D, moved, strict=True)]
