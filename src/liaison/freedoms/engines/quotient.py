"""The quotient ring of an ideal with finitely many points: monomials, products, traces.

Public names: Infinite, INFINITE, Quotient, distinct_points, monomial_matrix, trace.

Source: CLO05 §2.4 (multiplication matrices), §2.5 (the trace form).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

from liaison.errors import DerivationError
from liaison.freedoms.clock import go_on

from .buchberger import Whole

INFINITE = "the equations have infinitely many solutions."


class Infinite(DerivationError):
    """A variety that is not finite."""


class Quotient:
    """The quotient ring of an ideal with finitely many points: its monomials, its products."""

    def __init__(self, basis: Sequence[Whole], count: int) -> None:
        self.count = count
        self.basis = [self._monic(f) for f in basis]
        self.leads = [lead for lead, _ in self.basis]
        self.monomials = self._staircase()
        self.place = {m: k for k, m in enumerate(self.monomials)}
        self.size = len(self.monomials)
        self._known: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}

    def _monic(self, f: Whole) -> tuple[tuple[int, ...], dict[tuple[int, ...], Any]]:
        """The leading monomial, and what it equals in the quotient."""
        from flint import fmpq, fmpz

        terms = [(tuple(m), int(fmpz(c))) for m, c in f]
        lead, c = terms[0]
        return lead, {m: fmpq(-x, c) for m, x in terms[1:]}

    def _staircase(self) -> list[tuple[int, ...]]:
        """Monomials that no leading one divides."""
        tops = []
        for i in range(self.count):
            pure = [m[i] for m in self.leads if sum(m) == m[i]]
            if not pure:
                raise Infinite(INFINITE)
            tops.append(min(pure))
        below = product(*(range(top) for top in tops))
        return [m for m in below if not any(_divides(lead, m) for lead in self.leads)]

    def reduced(self, monomial: tuple[int, ...]) -> dict[tuple[int, ...], Any]:
        """A monomial as a combination of those of the staircase."""
        if monomial in self.place:
            return {monomial: 1}
        known = self._known.get(monomial)
        if known is not None:
            return known
        go_on()
        lead, tail = next((l, t) for l, t in self.basis if _divides(l, monomial))
        rest = tuple(a - b for a, b in zip(monomial, lead, strict=True))
        combination: dict[tuple[int, ...], Any] = {}
        for m, c in tail.items():
            for k, d in self.reduced(tuple(a + b for a, b in zip(m, rest, strict=True))).items():
                combination[k] = combination.get(k, 0) + c * d
        self._known[monomial] = combination
        return combination

    def multiplication(self, i: int) -> Any:
        """The matrix of multiplication by the unknown i."""
        from flint import fmpq_mat

        M = fmpq_mat(self.size, self.size)
        for column, monomial in enumerate(self.monomials):
            raised = tuple(e + (k == i) for k, e in enumerate(monomial))
            for m, c in self.reduced(raised).items():
                M[self.place[m], column] = c
        return M


def _divides(a: Sequence[int], b: Sequence[int]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


def distinct_points(matrices: Sequence[Any], quotient: Quotient) -> int:
    """The number of distinct points: the rank of the form (a, b) -> trace of a b."""
    from flint import fmpq_mat

    products = [monomial_matrix(matrices, m) for m in quotient.monomials]
    traces = [trace(p) for p in products]
    hermite = fmpq_mat(quotient.size, quotient.size)
    for i, a in enumerate(quotient.monomials):
        for j, b in enumerate(quotient.monomials):
            both = quotient.reduced(tuple(x + y for x, y in zip(a, b, strict=True)))
            hermite[i, j] = sum((c * traces[quotient.place[m]] for m, c in both.items()), 0)
    return int(hermite.rank())


def monomial_matrix(matrices: Sequence[Any], monomial: Sequence[int]) -> Any:
    """The product of multiplication matrices, each to its power."""
    from flint import fmpq_mat

    n = matrices[0].nrows()
    power = fmpq_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
    for M, e in zip(matrices, monomial, strict=True):
        for _ in range(e):
            power = power * M
    return power


def trace(M: Any) -> Any:
    """The sum of the diagonal."""
    return sum((M[i, i] for i in range(1, M.nrows())), M[0, 0])
