"""All points of a finite variety over the rationals, complex and real, by one polynomial in t.

A standard basis gives the quotient ring and its dimension D, the number of points with
multiplicity. A linear form t that separates the points has a characteristic polynomial whose
squarefree part f has one root a point; the points are then

    x_i = g_i(t) / g_1(t),  f(t) = 0                                              (mobility-10)

with rational polynomials g from traces. Roots are isolated with proof, so that the number of real
points is exact. FLINT's plain algorithm serves within limits, msolve beyond where it is there.

Public names: Polynomial, Point, Points, Infinite, all_points.

Source: ROU99 (rational univariate representation); CLO05 §2.4 (multiplication matrices).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm, prod
from pathlib import Path
from random import Random
from typing import Any, TypeAlias, final

from liaison.errors import DerivationError

from . import buchberger
from .balls import BITS, precision
from .buchberger import Whole, reduced_basis
from .clock import go_on
from .engines import FLINT, EngineError
from .msolve import Parametrization, parametrization

Polynomial: TypeAlias = Mapping[tuple[int, ...], Fraction]
"""Coefficients by exponents."""

LIMITS = (200, 1000, 100_000)
"""Polynomials, terms and bits of coefficients within which FLINT's plain algorithm is tried."""

QUICK, LONG = 40, 300
"""Bézout's number up to which it is run here, and up to which it is run apart."""

POINTS = 24
"""Points with multiplicity up to which the exact traces are taken."""

FORMS = 5
"""Linear forms tried to separate the points."""


class Infinite(DerivationError):
    """A variety that is not finite."""


@final
@dataclass(frozen=True, slots=True)
class Point:
    """One point of a finite variety."""

    x: tuple[Any, ...]  # balls: real ones for a real point
    is_real: bool
    multiplicity: int  # 0 where it is not known


@final
@dataclass(frozen=True, slots=True)
class Points:
    """All points of a finite variety."""

    points: tuple[Point, ...]
    multiplicity: int  # of all together: the dimension of the quotient ring
    engine: str

    @property
    def real(self) -> tuple[Point, ...]:
        """The real ones."""
        return tuple(point for point in self.points if point.is_real)


def all_points(
    polynomials: Sequence[Polynomial], count: int, *, seed: int = 0, bits: int = BITS
) -> Points:
    """Every solution of polynomial equations with rational coefficients.

    Args:
        polynomials: that must vanish.
        count: of unknowns.
        seed: of the linear form that separates points.
        bits: of the balls.

    Raises:
        Infinite: there are infinitely many, over the complex numbers.
        NotThere: too large for FLINT's plain algorithm, and msolve is not there.
        Exhausted: out of time or memory.
    """
    listed = [f for f in polynomials if any(f.values())]
    basis = _basis(listed, count)
    if basis is not None:
        quotient = _Quotient(basis, count)
        if quotient.size == 0:
            return Points((), 0, "FLINT")
        if quotient.size <= POINTS:
            return _by_traces(quotient, seed, bits)
    found = parametrization(listed, count)
    if found is None:
        raise Infinite(_INFINITE)
    return _by_msolve(found, count, bits)


_INFINITE = "the equations have infinitely many solutions."


def _basis(polynomials: Sequence[Polynomial], count: int) -> list[Whole] | None:
    """A reduced standard basis over the rationals; None past the limits."""
    go_on()
    whole: list[Whole] = []
    for f in polynomials:
        scale = lcm(*(c.denominator for c in f.values()))
        whole.append([(list(m), str(int(c * scale))) for m, c in f.items() if c])
    bezout = prod(max(sum(m) for m in f) for f in polynomials)
    if bezout <= QUICK:
        return reduced_basis(whole, count, LIMITS)
    return _apart(whole, count) if bezout <= LONG else None


def _apart(whole: list[Whole], count: int) -> list[Whole] | None:
    """The same in a process of its own, which may be ended; None where it does not end well."""
    import flint

    try:
        folder = str(Path(flint.__file__).parent.parent)
        told = json.dumps([whole, count, LIMITS])
        answer = FLINT.run(["-I", buchberger.__file__, folder], told)
    except EngineError:
        return None
    found: list[Whole] | None = json.loads(answer)
    return found


class _Quotient:
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
                raise Infinite(_INFINITE)
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
        found: dict[tuple[int, ...], Any] = {}
        for m, c in tail.items():
            for k, d in self.reduced(tuple(a + b for a, b in zip(m, rest, strict=True))).items():
                found[k] = found.get(k, 0) + c * d
        self._known[monomial] = found
        return found

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


def _by_traces(quotient: _Quotient, seed: int, bits: int) -> Points:
    """The points from traces of products, with a linear form that separates them."""
    matrices = [quotient.multiplication(i) for i in range(quotient.count)]
    draw, best = Random(seed), None
    for attempt in range(FORMS):
        form = [draw.randrange(-9, 10) if attempt else i + 1 for i in range(quotient.count)]
        M = sum((a * m for a, m in zip(form[1:], matrices[1:], strict=True)), form[0] * matrices[0])
        characteristic = M.charpoly()
        f = characteristic / characteristic.gcd(characteristic.derivative())
        if best is None or f.degree() > best[1].degree():
            best = M, f, characteristic
        if f.degree() == quotient.size or (attempt and f.degree() == _distinct(matrices, quotient)):
            break
    else:
        raise DerivationError("no linear form tried separates the solutions.")
    return _evaluated(quotient, matrices, *best, bits)


def _distinct(matrices: Sequence[Any], quotient: _Quotient) -> int:
    """The number of distinct points: the rank of the form (a, b) -> trace of a b."""
    from flint import fmpq_mat

    products = [_monomial_matrix(matrices, m) for m in quotient.monomials]
    traces = [_trace(p) for p in products]
    hermite = fmpq_mat(quotient.size, quotient.size)
    for i, a in enumerate(quotient.monomials):
        for j, b in enumerate(quotient.monomials):
            both = quotient.reduced(tuple(x + y for x, y in zip(a, b, strict=True)))
            hermite[i, j] = sum((c * traces[quotient.place[m]] for m, c in both.items()), 0)
    return int(hermite.rank())


def _monomial_matrix(matrices: Sequence[Any], monomial: Sequence[int]) -> Any:
    from flint import fmpq_mat

    n = matrices[0].nrows()
    found = fmpq_mat(n, n, [int(i == j) for i in range(n) for j in range(n)])
    for M, e in zip(matrices, monomial, strict=True):
        for _ in range(e):
            found = found * M
    return found


def _trace(M: Any) -> Any:
    return sum((M[i, i] for i in range(1, M.nrows())), M[0, 0])


def _evaluated(
    quotient: _Quotient, matrices: Sequence[Any], M: Any, f: Any, characteristic: Any, bits: int
) -> Points:
    numerators = [_numerator(v, M, f) for v in [None, *matrices]]
    with precision(bits):
        found = []
        for root, _ in f.complex_roots():
            values = [_at(g, root) for g in numerators]
            x = tuple(value / values[0] for value in values[1:])
            found.append(_point(x, root, _order(characteristic, f, root)))
        return Points(tuple(found), quotient.size, "FLINT")


def _numerator(v: Any, M: Any, f: Any) -> Any:
    """Σ_k trace(v t^k) · (Horner's polynomial of f of degree d − 1 − k); v = 1 where None."""
    from flint import fmpq_poly

    d = f.degree()
    coefficients = [f[k] for k in range(d + 1)]
    n = M.nrows()
    power = v if v is not None else _monomial_matrix([M], [0])
    total = fmpq_poly([0])
    for k in range(d):
        total += _trace(power) * fmpq_poly(coefficients[k + 1 :])
        if k < d - 1 and n:
            power = power * M
    return total


def _at(g: Any, root: Any) -> Any:
    """A rational polynomial at a ball."""
    from flint import acb, arb

    total = root * 0
    for k in range(g.degree(), -1, -1):
        total = total * root + arb(g[k])
    return acb(total)


def _order(characteristic: Any, f: Any, root: Any) -> int:
    """How often a root of f occurs in the characteristic polynomial."""
    order, rest = 1, characteristic / f
    while rest.degree() > 0 and _at(rest, root).contains(0):
        shared = rest.gcd(f)
        if not _at(shared, root).contains(0):
            break
        order, rest = order + 1, rest / shared
    return order


def _point(x: Sequence[Any], root: Any, multiplicity: int) -> Point:
    is_real = bool(root.imag == 0)
    return Point(tuple(v.real for v in x) if is_real else tuple(x), is_real, multiplicity)


def _by_msolve(found: Parametrization, count: int, bits: int) -> Points:
    """The points of msolve's parametrization, its roots isolated here."""
    from flint import acb, fmpz_poly

    if found.multiplicity == 0:
        return Points((), 0, "msolve")
    f = fmpz_poly(found.elimination)
    if f.gcd(f.derivative()).degree() > 0:
        raise EngineError("msolve gave an elimination polynomial with a double root.")
    slope = fmpz_poly(found.denominator)
    simple = found.multiplicity == f.degree()
    with precision(bits + 4 * f.degree()):
        points = []
        for root, _ in f.complex_roots():
            below = slope(root)
            x = {-1: root} | {found.order[-1]: root}
            for k, (top, scale) in zip(found.order, found.numerators, strict=False):
                x[k] = -fmpz_poly(top)(root) / (below * scale)
            if len({*x} - {-1}) != count:
                raise EngineError("msolve does not tell all unknowns.")
            points.append(_point([acb(x[i]) for i in range(count)], root, int(simple)))
        return Points(tuple(points), found.multiplicity, "msolve")
