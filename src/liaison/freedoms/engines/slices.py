"""Rings of hinges cut by fixed joint values, modulo a prime, through msolve: a point, or none.

Each hinge is read off from a drawn direction, so that half turns are nothing special; points with
some 1 + τ² = 0, which are no rotations, are taken away by z Π (1 + τ²) = 1.

Points of finite varieties modulo a prime, from msolve's standard bases.

Public names: Slice, slice_of. Source: docs/theory/mobility.md (mobility-6), Residues, dimension_of,
points_of. Source: CLO05 §2.4 (eigenvectors of multiplication matrices).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any, TypeAlias, final

from liaison.exact.linear import is_prime, kernel
from liaison.freedoms.clock import go_on

from .msolve import basis_modulo

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
    points = []
    for root, _ in whole.charpoly().roots():
        point = quotient.point(whole, int(root))
        if point is not None and all(_value(f, point, p) == 0 for f in basis):
            points.append(point)
    return points


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
        monomials: list[tuple[int, ...]] = []
        for m in product(*(range(top) for top in tops)):
            if not any(_divides(lead, m) for lead in self.leads):
                monomials.append(m)
        return monomials

    def reduced(self, monomial: tuple[int, ...]) -> dict[tuple[int, ...], int]:
        """A monomial as a combination of those of the staircase."""
        if monomial in self.place:
            return {monomial: 1}
        if monomial in self._known:
            return self._known[monomial]
        go_on()
        lead = next(m for m in self.leads if _divides(m, monomial))
        rest = [a - b for a, b in zip(monomial, lead, strict=True)]
        combination: dict[tuple[int, ...], int] = {}
        for m, c in self.leads[lead].items():
            for k, d in self.reduced(tuple(a + b for a, b in zip(m, rest, strict=True))).items():
                combination[k] = (combination.get(k, 0) + c * d) % self.p
        self._known[monomial] = combination
        return combination

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
        coordinates = []
        for i in range(self.count):
            parts = self.reduced(tuple(int(k == i) for k in range(self.count)))
            coordinates.append(sum(c * values[m] for m, c in parts.items()) % self.p)
        return coordinates


def _divides(a: Sequence[int], b: Sequence[int]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


Terms: TypeAlias = dict[tuple[int, ...], int]
Dual: TypeAlias = list[int]


@final
@dataclass(frozen=True, slots=True)
class Slice:
    """Solutions of a ring's closure with some joint values fixed, modulo p."""

    p: int
    dimension: int  # −1: nothing; 0: points; 1: more
    points: tuple[tuple[int, ...], ...]  # all joint values τ, over F_p


def small_prime(draw: Random) -> int:
    """A prime of 31 bits, 3 modulo 4."""
    while True:
        p = 4 * draw.randrange(2**28, 2**29 - 1) + 3
        if is_prime(p):
            return p


def slice_of(behind: Sequence[Any], fixed: int, seed: int) -> Slice:
    """The ring with its first joint values drawn, modulo a drawn prime.

    Args:
        behind: for a prime, the dual quaternion from each hinge to the next.
        fixed: how many joint values are drawn.
        seed: of prime, values and directions.

    Raises:
        NotThere: msolve is not there.
        Exhausted: out of time or memory.
    """
    draw = Random(seed)
    p = small_prime(draw)
    links = [link(p) for link in behind]
    starts = [draw.randrange(1, p) for _ in links]
    values = [draw.randrange(1, p) for _ in range(fixed)]
    count = len(links) - fixed
    equations = _closure(links, starts, values, p)
    basis = basis_modulo([f for f in equations if f], count + 1, p)
    dimension = dimension_of(basis, count + 1)
    solutions = points_of(basis, count + 1, p, seed) if dimension == 0 else []
    points = []
    for point in solutions:
        taus = [_turned(x, s, p) for x, s in zip([*values, *point[:count]], starts, strict=True)]
        if all(tau is not None for tau in taus):
            points.append(tuple(int(tau) for tau in taus if tau is not None))
    return Slice(p, dimension, tuple(points))


def _turned(x: int, start: int, p: int) -> int | None:
    """tan of the sum of two half angles; None for half a turn."""
    below = (1 - x * start) % p
    return (x + start) * pow(below, -1, p) % p if below else None


def _closure(
    links: Sequence[Dual], starts: Sequence[int], values: Sequence[int], p: int
) -> list[Terms]:
    """Six equations, and that every hinge turns by a rotation."""
    count = len(links) - len(values)
    one = (0,) * (count + 1)
    total: list[Terms] = [{one: 1}, *({} for _ in range(7))]
    for k, (link, start) in enumerate(zip(links, starts, strict=True)):
        total = _times(total, [1, 0, 0, start, 0, 0, 0, 0], p)
        if k < len(values):
            total = _times(total, [1, 0, 0, values[k], 0, 0, 0, 0], p)
        else:
            turned = _times(total, [0, 0, 0, 1, 0, 0, 0, 0], p)
            place = k - len(values)
            total = [_sum(a, _raised(b, place), p) for a, b in zip(total, turned, strict=True)]
        total = _times(total, link, p)
    rotations: Terms = {one: 1}
    for place in range(count):
        rotations = _sum(rotations, _raised(_raised(rotations, place), place), p)
    whole = _sum(_raised(rotations, count), {one: p - 1}, p)
    return [*(total[k] for k in (1, 2, 3, 5, 6, 7)), whole]


def _sum(a: Terms, b: Terms, p: int) -> Terms:
    total = dict(a)
    for m, c in b.items():
        total[m] = (total.get(m, 0) + c) % p
    return {m: c for m, c in total.items() if c}


def _raised(a: Terms, place: int) -> Terms:
    return {tuple(e + (k == place) for k, e in enumerate(m)): c for m, c in a.items()}


_QUATERNION = (
    ((0, 0, 1), (1, 1, -1), (2, 2, -1), (3, 3, -1)),
    ((0, 1, 1), (1, 0, 1), (2, 3, 1), (3, 2, -1)),
    ((0, 2, 1), (1, 3, -1), (2, 0, 1), (3, 1, 1)),
    ((0, 3, 1), (1, 2, 1), (2, 1, -1), (3, 0, 1)),
)


def _times(P: Sequence[Terms], Q: Dual, p: int) -> list[Terms]:
    """A dual quaternion of polynomials times one of residues."""
    products: list[Terms] = []
    for part in (0, 4):
        for row in _QUATERNION:
            total: Terms = {}
            for i, j, sign in row:
                total = _sum(total, _scaled(P[i], sign * Q[j + part], p), p)
                if part:
                    total = _sum(total, _scaled(P[i + 4], sign * Q[j], p), p)
            products.append(total)
    return products


def _scaled(a: Terms, c: int, p: int) -> Terms:
    return {m: c * x % p for m, x in a.items()} if c % p else {}
