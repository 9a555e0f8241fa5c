"""All points of a finite variety over the rationals, complex and real, by one polynomial in t.

A standard basis gives the quotient ring and its dimension D, the number of points with
multiplicity. A linear form t that separates the points has a characteristic polynomial whose
squarefree part f has one root a point; the points are then

    x_i = g_i(t) / g_1(t),  f(t) = 0                                              (mobility-10)

with rational polynomials g from traces. Roots are isolated with proof, so that the number of real
points is exact. FLINT's plain algorithm serves within limits, msolve beyond where it is there.

Why it is here: it is the general solver behind all assembly modes; simple points are read off
eigenvectors, which is quick, multiple ones (dead points) need the traces.

Public names: Point, Points, all_points.

Source: ROU99 (rational univariate representation); CLO05 §2.4 (eigenvectors).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lcm, prod
from pathlib import Path
from random import Random
from typing import Any, final

from liaison.errors import DerivationError
from liaison.exact.balls import BITS, arb_of, kernel_line, precision
from liaison.freedoms.clock import Exhausted, bounded, go_on

from . import buchberger
from .buchberger import Whole, reduced_basis
from .engines import FLINT, MSOLVE, EngineError
from .linear_part import Polynomial, without_linear
from .msolve import Parametrization, parametrization
from .quotient import (
    INFINITE,
    Infinite,
    Quotient,
    distinct_points,
    monomial_matrix,
    rational_quotient,
    trace,
)

LIMITS = (200, 1000, 100_000)
"""Polynomials, terms and bits of coefficients within which FLINT's plain algorithm is tried."""

PATIENCE = 5.0
"""Seconds that it may take apart where msolve waits."""

QUICK, LONG = 40, 300
"""Bézout's number up to which it is run here, and up to which it is run apart."""

POINTS = 24
"""Points with multiplicity up to which the exact traces are taken."""

FORMS = 5
"""Linear forms tried to separate the points."""


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
    reduced = without_linear([f for f in polynomials if any(f.values())], count)
    solutions = _all_points(reduced.polynomials, len(reduced.remaining), seed, bits)
    with precision(bits):
        points = [replace(point, x=tuple(reduced.completed(point.x))) for point in solutions.points]
    return replace(solutions, points=tuple(points))


def _all_points(listed: Sequence[Polynomial], count: int, seed: int, bits: int) -> Points:
    """The same for systems without linear equations."""
    if count == 0:
        return Points((Point((), True, 1),) if not listed else (), int(not listed), "FLINT")
    if not listed:
        raise Infinite(INFINITE)
    basis = _basis(listed, count)
    if basis is not None:
        quotient = rational_quotient(basis, count)
        if quotient.size == 0:
            return Points((), 0, "FLINT")
        if quotient.size <= POINTS:
            return _by_traces(quotient, seed, bits)
    univariate = parametrization(listed, count)
    if univariate is None:
        raise Infinite(INFINITE)
    return _by_msolve(univariate, count, bits)


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
        request = json.dumps([whole, count, LIMITS])
        with bounded(PATIENCE if MSOLVE.path() else None):
            answer = FLINT.run(["-I", buchberger.__file__, folder], request)
    except (EngineError, Exhausted):
        go_on()
        return None
    basis: list[Whole] | None = json.loads(answer)
    return basis


def _by_traces(quotient: Quotient, seed: int, bits: int) -> Points:
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
        if f.degree() == quotient.size:
            break
        if attempt and f.degree() == distinct_points(matrices, quotient):
            break
    else:
        raise DerivationError("no linear form tried separates the solutions.")
    return _evaluated(quotient, matrices, *best, bits)


def _evaluated(
    quotient: Quotient, matrices: Sequence[Any], M: Any, f: Any, characteristic: Any, bits: int
) -> Points:
    if f.degree() == quotient.size:
        simple = _by_eigenvectors(quotient, M, f, bits)
        if simple is not None:
            return simple
    numerators = [_numerator(v, M, f) for v in [None, *matrices]]
    with precision(bits):
        points = []
        for root, _ in f.complex_roots():
            values = [_at(g, root) for g in numerators]
            x = tuple(value / values[0] for value in values[1:])
            points.append(_point(x, root, _order(characteristic, f, root)))
        return Points(tuple(points), quotient.size, "FLINT")


def _by_eigenvectors(quotient: Quotient, M: Any, f: Any, bits: int) -> Points | None:
    """Simple points: each root's eigenvector of Mᵀ holds the monomials at its point."""
    from flint import acb, arb

    for factor in (1, 3, 9):
        go_on()
        points = []
        with precision(factor * bits):
            entries = [[arb(M[j, i]) for j in range(quotient.size)] for i in range(quotient.size)]
            for root, _ in f.complex_roots():
                x = _read_off(quotient, entries, root.real if root.imag == 0 else root)
                if x is None or max(float(v.rad()) for v in x) > 2.0 ** (-bits // 2):
                    break
                points.append(_point([acb(v) for v in x], root, 1))
            else:
                return Points(tuple(points), quotient.size, "FLINT")
    return None


def _read_off(quotient: Quotient, entries: list[list[Any]], root: Any) -> list[Any] | None:
    """The unknowns at the point of a root."""
    size = quotient.size
    shifted = [[entries[i][j] - (root if i == j else root * 0) for j in range(size)]
               for i in range(size)]  # fmt: skip
    vector = kernel_line(shifted)
    one = quotient.place[(0,) * quotient.count]
    if vector is None or vector[one].contains(0):
        return None
    values = []
    for i in range(quotient.count):
        parts = quotient.reduced(tuple(int(k == i) for k in range(quotient.count)))
        total = sum((arb_of(c) * vector[quotient.place[m]] for m, c in parts.items()), root * 0)
        values.append(total / vector[one])
    return values


def _numerator(v: Any, M: Any, f: Any) -> Any:
    """Σ_k trace(v t^k) · (Horner's polynomial of f of degree d − 1 − k); v = 1 where None."""
    from flint import fmpq_poly

    d = f.degree()
    coefficients = [f[k] for k in range(d + 1)]
    n = M.nrows()
    power = v if v is not None else monomial_matrix([M], [0])
    total = fmpq_poly([0])
    for k in range(d):
        total += trace(power) * fmpq_poly(coefficients[k + 1 :])
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


def _by_msolve(rational_form: Parametrization, count: int, bits: int) -> Points:
    """The points of msolve's parametrization, its roots isolated here."""
    from flint import acb, fmpz_poly

    if rational_form.multiplicity == 0:
        return Points((), 0, "msolve")
    f = fmpz_poly(rational_form.elimination)
    if f.gcd(f.derivative()).degree() > 0:
        raise EngineError("msolve gave an elimination polynomial with a double root.")
    slope = fmpz_poly(rational_form.denominator)
    simple = rational_form.multiplicity == f.degree()
    with precision(bits + 4 * f.degree()):
        points = []
        for root, _ in f.complex_roots():
            below = slope(root)
            x = {-1: root} | {rational_form.order[-1]: root}
            for k, (top, scale) in zip(rational_form.order, rational_form.numerators, strict=False):
                x[k] = -fmpz_poly(top)(root) / (below * scale)
            if len({*x} - {-1}) != count:
                raise EngineError("msolve does not return all unknowns.")
            points.append(_point([acb(x[i]) for i in range(count)], root, int(simple)))
        return Points(tuple(points), rational_form.multiplicity, "msolve")
