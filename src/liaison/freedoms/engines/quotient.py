"""The quotient ring of an ideal with finitely many points, over the rationals or modulo a prime.

Multiplication by an unknown is a matrix; its eigenvectors hold the monomials at the points, and
traces of products count the points.

Public names: Infinite, INFINITE, Quotient, rational_quotient, residue_quotient, distinct_points,
monomial_matrix, trace, Residues, leading, points_of.

Source: CLO05 §2.4 (multiplication matrices, eigenvectors), §2.5 (the trace form).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, TypeAlias

from liaison.errors import DerivationError
from liaison.exact.linear import kernel
from liaison.freedoms.clock import go_on

from .buchberger import Whole

INFINITE = "the equations have infinitely many solutions."

POINTS = 200
"""Points with multiplicity beyond which none is sought modulo a prime."""

Monomial: TypeAlias = tuple[int, ...]
Residues: TypeAlias = Mapping[Monomial, int]
"""A polynomial modulo a prime: residues by exponents."""


class Infinite(DerivationError):
    """A variety that is not finite."""


class Quotient:
    """The quotient ring of an ideal with finitely many points: its monomials, its products.

    Args:
        tails: leading monomials of a reduced standard basis, each with what it equals.
        count: of unknowns.
        square: the zero matrix of that size, over the field.
    """

    def __init__(
        self,
        tails: Mapping[Monomial, Mapping[Monomial, Any]],
        count: int,
        square: Callable[[int], Any],
    ) -> None:
        self.count, self.tails, self._square = count, tails, square
        self.monomials = self._staircase()
        self.place = {m: k for k, m in enumerate(self.monomials)}
        self.size = len(self.monomials)
        self._known: dict[Monomial, dict[Monomial, Any]] = {}

    def _staircase(self) -> list[Monomial]:
        """Monomials that no leading one divides."""
        tops = []
        for i in range(self.count):
            pure = [m[i] for m in self.tails if sum(m) == m[i]]
            if not pure:
                raise Infinite(INFINITE)
            tops.append(min(pure))
        below = product(*(range(top) for top in tops))
        return [m for m in below if not any(_divides(lead, m) for lead in self.tails)]

    def reduced(self, monomial: Monomial) -> dict[Monomial, Any]:
        """A monomial as a combination of those of the staircase."""
        if monomial in self.place:
            return {monomial: 1}
        cached = self._known.get(monomial)
        if cached is not None:
            return cached
        go_on()
        lead, tail = next((l, t) for l, t in self.tails.items() if _divides(l, monomial))
        rest = tuple(a - b for a, b in zip(monomial, lead, strict=True))
        combination: dict[Monomial, Any] = {}
        for m, c in tail.items():
            for k, d in self.reduced(tuple(a + b for a, b in zip(m, rest, strict=True))).items():
                combination[k] = combination.get(k, 0) + c * d
        self._known[monomial] = combination
        return combination

    def multiplication(self, i: int) -> Any:
        """The matrix of multiplication by the unknown i."""
        M = self._square(self.size)
        for column, monomial in enumerate(self.monomials):
            raised = tuple(e + (k == i) for k, e in enumerate(monomial))
            for m, c in self.reduced(raised).items():
                M[self.place[m], column] = c
        return M


def _divides(a: Sequence[int], b: Sequence[int]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


def rational_quotient(basis: Sequence[Whole], count: int) -> Quotient:
    """Over the rationals, from a reduced standard basis whose terms begin with the leading one."""
    from flint import fmpq, fmpq_mat, fmpz

    tails = {}
    for f in basis:
        (lead, first), *rest = [(tuple(m), int(fmpz(c))) for m, c in f]
        tails[lead] = {m: fmpq(-c, first) for m, c in rest}
    return Quotient(tails, count, lambda n: fmpq_mat(n, n))


def residue_quotient(basis: Sequence[Residues], count: int, p: int) -> Quotient:
    """Modulo a prime, from a reduced standard basis in the order degrevlex."""
    from flint import nmod, nmod_mat

    tails = {}
    for f in basis:
        lead = leading(f)
        scale = nmod(-1, p) / f[lead]
        tails[lead] = {m: scale * c for m, c in f.items() if m != lead}
    return Quotient(tails, count, lambda n: nmod_mat(n, n, p))


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


# Modulo a prime ---------------------------------------------------------------------------------


def _degrevlex(monomial: Monomial) -> Monomial:
    """Sorts by degrevlex: greater is later."""
    return (sum(monomial), *(-e for e in reversed(monomial)))


def leading(f: Residues) -> Monomial:
    """The leading monomial in the order degrevlex."""
    return max(f, key=_degrevlex)


def points_of(basis: Sequence[Residues], count: int, p: int, seed: int = 0) -> list[list[int]]:
    """Points over F_p of a finite variety: those that a drawn linear form separates.

    Args:
        basis: reduced, order degrevlex.
        count: of unknowns.
        p: the prime.
        seed: of the linear form.
    """
    quotient = residue_quotient(basis, count, p)
    if quotient.size > POINTS:
        return []
    draw = Random(seed)
    weights = [draw.randrange(p) for _ in range(count)]
    matrices = [quotient.multiplication(i) for i in range(count)]
    whole = sum((w * M for w, M in zip(weights[1:], matrices[1:], strict=True)),
                weights[0] * matrices[0])  # fmt: skip
    points = [_at_root(quotient, whole, int(root), p) for root, _ in whole.charpoly().roots()]
    return [x for x in points if x is not None and all(_value(f, x, p) == 0 for f in basis)]


def _at_root(quotient: Quotient, M: Any, root: int, p: int) -> list[int] | None:
    """The point whose monomials are an eigenvector of the transposed matrix."""
    size = quotient.size
    shifted = [[int(M[j, i]) - root * (i == j) for j in range(size)] for i in range(size)]
    vectors = kernel(shifted, p, size)
    one = quotient.place[(0,) * quotient.count]
    if len(vectors) != 1 or vectors[0][one] == 0:
        return None
    scale = pow(vectors[0][one], -1, p)
    point = []
    for i in range(quotient.count):
        parts = quotient.reduced(tuple(int(k == i) for k in range(quotient.count)))
        total = sum(int(c) * vectors[0][quotient.place[m]] for m, c in parts.items())
        point.append(total * scale % p)
    return point


def _value(f: Residues, x: Sequence[int], p: int) -> int:
    total = 0
    for m, c in f.items():
        for value, e in zip(x, m, strict=True):
            c = c * pow(value, e, p) % p
        total += c
    return total % p
