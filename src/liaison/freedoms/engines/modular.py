"""Points of finite varieties modulo a prime, from msolve's standard bases.

Public names: Residues, dimension_of, points_of.

Source: CLO05 §2.4 (eigenvectors of multiplication matrices).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from random import Random
from typing import Any, TypeAlias

from liaison.exact.linear import kernel
from liaison.freedoms.clock import go_on

Residues: TypeAlias = Mapping[tuple[int, ...], int]
"""A polynomial: residues by exponents."""

POINTS = 200
"""Points with multiplicity beyond which none is sought."""


def _order(monomial: Sequence[int]) -> tuple[int, ...]:
    """Sorts by degrevlex: greater is later."""
    return (sum(monomial), *(-e for e in reversed(monomial)))


def _lead(f: Residues) -> tuple[int, ...]:
    return max(f, key=_order)


def dimension_of(basis: Sequence[Residues], count: int) -> int:
    """−1 for no point, 0 for finitely many, else 1: infinitely many."""
    leads = [_lead(f) for f in basis]
    if any(sum(m) == 0 for m in leads):
        return -1
    pure = {next(i for i, e in enumerate(m) if e) for m in leads if sum(map(bool, m)) == 1}
    return 0 if len(pure) == count else 1


def points_of(basis: Sequence[Residues], count: int, p: int, seed: int = 0) -> list[list[int]]:
    """Points over F_p of a finite variety: those that a drawn linear form separates.

    Args:
        basis: reduced, order degrevlex.
        count: of unknowns.
        p: the prime.
        seed: of the linear form.
    """
    quotient = _Quotient(basis, count, p)
    if quotient.size > POINTS:
        return []
    draw = Random(seed)
    weights = [draw.randrange(p) for _ in range(count)]
    matrices = [quotient.multiplication(i) for i in range(count)]
    whole = sum((w * M for w, M in zip(weights[1:], matrices[1:], strict=True)),
                weights[0] * matrices[0])  # fmt: skip
    found = []
    for root, _ in whole.charpoly().roots():
        point = quotient.point(whole, int(root))
        if point is not None and all(_value(f, point, p) == 0 for f in basis):
            found.append(point)
    return found


def _value(f: Residues, x: Sequence[int], p: int) -> int:
    total = 0
    for m, c in f.items():
        for value, e in zip(x, m, strict=True):
            c = c * pow(value, e, p) % p
        total += c
    return total % p


class _Quotient:
    """The quotient ring modulo p of an ideal with finitely many points."""

    def __init__(self, basis: Sequence[Residues], count: int, p: int) -> None:
        self.count, self.p = count, p
        self.leads = {}
        for f in basis:
            lead = _lead(f)
            scale = pow(f[lead], -1, p)
            self.leads[lead] = {m: -c * scale % p for m, c in f.items() if m != lead}
        self.monomials = self._staircase()
        self.place = {m: k for k, m in enumerate(self.monomials)}
        self.size = len(self.monomials)
        self._known: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}

    def _staircase(self) -> list[tuple[int, ...]]:
        tops = [min(m[i] for m in self.leads if sum(m) == m[i]) for i in range(self.count)]
        found: list[tuple[int, ...]] = []
        for m in product(*(range(top) for top in tops)):
            if not any(_divides(lead, m) for lead in self.leads):
                found.append(m)
        return found

    def reduced(self, monomial: tuple[int, ...]) -> dict[tuple[int, ...], int]:
        """A monomial as a combination of those of the staircase."""
        if monomial in self.place:
            return {monomial: 1}
        if monomial in self._known:
            return self._known[monomial]
        go_on()
        lead = next(m for m in self.leads if _divides(m, monomial))
        rest = [a - b for a, b in zip(monomial, lead, strict=True)]
        found: dict[tuple[int, ...], int] = {}
        for m, c in self.leads[lead].items():
            for k, d in self.reduced(tuple(a + b for a, b in zip(m, rest, strict=True))).items():
                found[k] = (found.get(k, 0) + c * d) % self.p
        self._known[monomial] = found
        return found

    def multiplication(self, i: int) -> Any:
        """The matrix of multiplication by the unknown i."""
        from flint import nmod_mat

        rows = [[0] * self.size for _ in range(self.size)]
        for column, monomial in enumerate(self.monomials):
            raised = tuple(e + (k == i) for k, e in enumerate(monomial))
            for m, c in self.reduced(raised).items():
                rows[self.place[m]][column] = c
        return nmod_mat(self.size, self.size, [c for row in rows for c in row], self.p)

    def point(self, M: Any, root: int) -> list[int] | None:
        """The point whose monomials are an eigenvector of the transposed matrix."""
        shifted = [[int(M[j, i]) - root * (i == j) for j in range(self.size)]
                   for i in range(self.size)]  # fmt: skip
        vectors = kernel(shifted, self.p, self.size)
        if len(vectors) != 1:
            return None
        one = vectors[0][self.place[(0,) * self.count]]
        if one == 0:
            return None
        scale = pow(one, -1, self.p)
        values = {m: vectors[0][k] * scale % self.p for m, k in self.place.items()}
        found = []
        for i in range(self.count):
            parts = self.reduced(tuple(int(k == i) for k in range(self.count)))
            found.append(sum(c * values[m] for m, c in parts.items()) % self.p)
        return found


def _divides(a: Sequence[int], b: Sequence[int]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))
