"""Polynomial equations with exact coefficients: rationals to solve them, balls to prove solutions.

Coefficients that are not rational (the cosine of an angle that is held, say) are rounded far below
any tolerance before all solutions are sought; each solution is then sought again, and proved, for
the coefficients themselves.

Public names: PolynomialSystem, Solution, Solved, solved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from .balls import BITS, balls, floats_of, precision, rational_of
from .certify import Square, certified
from .clock import go_on
from .finite import Points, Polynomial, all_points


@final
@dataclass(frozen=True, slots=True)
class PolynomialSystem(Square):
    """Equations in some unknowns, as exact coefficients by exponents."""

    count: int
    equations: tuple[Mapping[tuple[int, ...], Any], ...]

    def rational(self) -> tuple[list[Polynomial], bool]:
        """The equations over the rationals, and whether they are exactly these."""
        found, exact = [], True
        for equation in self.equations:
            numbers, is_exact = rational_of(list(equation.values()))
            exact = exact and is_exact
            found.append({m: c for m, c in zip(equation, numbers, strict=True) if c})
        return list[Polynomial](found), exact

    def in_balls(self) -> PolynomialSystem:
        """The same with coefficients as balls of the present precision."""
        return PolynomialSystem(
            self.count,
            tuple(dict(zip(f, balls(list(f.values())), strict=True)) for f in self.equations),
        )

    def values(self, x: Sequence[Any]) -> list[Any]:
        """Each equation at a point; coefficients must be balls."""
        return [sum((c * _power(x, m) for m, c in f.items()), x[0] * 0) for f in self.equations]

    def jacobian(self, x: Sequence[Any]) -> list[list[Any]]:
        """Partial derivatives at a point, by rows; coefficients must be balls."""
        return [[self._partial(f, x, i) for i in range(self.count)] for f in self.equations]

    def _partial(self, f: Mapping[tuple[int, ...], Any], x: Sequence[Any], i: int) -> Any:
        total = x[0] * 0
        for m, c in f.items():
            if m[i]:
                lower = tuple(e - (k == i) for k, e in enumerate(m))
                total = total + c * m[i] * _power(x, lower)
        return total


def _power(x: Sequence[Any], monomial: Sequence[int]) -> Any:
    found: Any = 1
    for value, e in zip(x, monomial, strict=True):
        for _ in range(e):
            found = found * value
    return found


@final
@dataclass(frozen=True, slots=True)
class Solution:
    """A real solution: floats, and what is proved of it."""

    x: tuple[float, ...]
    proof: str  # "exact", "Krawczyk" or ""
    radius: float  # within which it lies
    multiplicity: int


@final
@dataclass(frozen=True, slots=True)
class Solved:
    """All real solutions of a system, and how many complex ones there are."""

    real: tuple[Solution, ...]
    points: int  # distinct complex ones
    multiplicity: int  # of all complex ones together
    engine: str
    is_exact: bool  # the coefficients are rational


def solved(system: PolynomialSystem, *, seed: int = 0) -> Solved:
    """All real solutions, each proved where it is simple.

    Raises:
        Infinite: there are infinitely many complex solutions.
        NotThere, Exhausted: they could not be computed.
    """
    with precision(BITS):
        polynomials, exact = system.rational()
        found = all_points(polynomials, system.count, seed=seed)
        real = _proved(system.in_balls(), found, exact)
    return Solved(real, len(found.points), found.multiplicity, found.engine, exact)


def _proved(system: PolynomialSystem, found: Points, exact: bool) -> tuple[Solution, ...]:
    square = len(system.equations) == system.count
    solutions = []
    for point in found.real:
        go_on()
        box = certified(system, point.x) if square else None
        if box is not None:
            x, radius, proof = floats_of(box.box), box.radius, "Krawczyk"
        else:
            x, radius = floats_of(point.x), max(float(v.rad()) for v in point.x)
            proof = "exact" if exact and found.engine == "FLINT" else ""
        solutions.append(Solution(tuple(x), proof, radius, point.multiplicity))
    return tuple(solutions)
