"""Polynomial equations with exact coefficients: rationals to solve them, balls to prove solutions.

Why it is here: coefficients that are not rational (the cosine of an angle that is held, say) are
rounded far below any tolerance before finite.py solves; each solution is then sought again, and
proved, for the coefficients themselves.

Public names: PolynomialSystem, Solution, Solved, solved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.exact.balls import BITS, ROUNDED, balls, floats_of, precision, rational_of
from liaison.freedoms.clock import go_on

from .certify import Square, certified
from .finite import Points, all_points
from .linear_part import Polynomial


@final
@dataclass(frozen=True, slots=True)
class PolynomialSystem(Square):
    """Equations in some unknowns, as exact coefficients by exponents."""

    count: int
    equations: tuple[Mapping[tuple[int, ...], Any], ...]

    def rational(self, digits: int = ROUNDED) -> tuple[list[Polynomial], bool]:
        """The equations over the rationals, and whether they are exactly these."""
        polynomials, exact = [], True
        for equation in self.equations:
            numbers, is_exact = rational_of(list(equation.values()), digits)
            exact = exact and is_exact
            polynomials.append({m: c for m, c in zip(equation, numbers, strict=True) if c})
        return list[Polynomial](polynomials), exact

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
    power: Any = 1
    for value, e in zip(x, monomial, strict=True):
        for _ in range(e):
            power = power * value
    return power


@final
@dataclass(frozen=True, slots=True)
class Solution:
    """A real solution in floats, with its certificate."""

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
    digits: int  # to which they were rounded otherwise
    is_full: bool = False  # as many complex ones are proved as there can be
    is_stable: bool = True  # no complex one was lost or made by rounding, as far as can be seen


def solved(
    system: PolynomialSystem,
    *,
    seed: int = 0,
    digits: int = ROUNDED,
    near: PolynomialSystem | None = None,
    most: int | None = None,
) -> Solved:
    """All real solutions, each proved where it is simple.

    Args:
        system: the equations.
        seed: of what is drawn to separate solutions.
        digits: binary ones behind the point, of coefficients that are not rational.
        near: what to solve over the rationals instead: the equations of rounded data.
        most: complex solutions that there can be at most; where so many are proved, all are known.

    Raises:
        Infinite: there are infinitely many complex solutions.
        NotThere, Exhausted: they could not be computed.
    """
    with precision(BITS):
        polynomials, exact = (near or system).rational(digits)
        exact = exact and near is None
        points = all_points(polynomials, system.count, seed=seed)
        in_balls = system.in_balls()
        real = _proved(in_balls, points, exact)
        if exact and most != len(points.points):
            return Solved(
                real, len(points.points), points.multiplicity, points.engine, True, digits
            )
        count = _proved_count(in_balls, points, 2.0 ** (digits // 2))
    whole = points.multiplicity if exact else count or 0
    return Solved(
        real, len(points.points) if exact else whole, whole, points.engine, exact, digits,
        is_full=count == most, is_stable=exact or bool(count),
    )  # fmt: skip


def _proved_count(system: PolynomialSystem, points: Points, far: float) -> int | None:
    """Points, also complex ones, that are near a solution of their own; None if some are not.

    Points farther than `far` are left out: rounding brought them back from infinity.
    """
    if len(system.equations) != system.count:
        return None
    boxes = []
    for point in points.points:
        go_on()
        box = certified(system, point.x)
        if box is not None:
            boxes.append(box.box)
        elif max(float(abs(x).mid()) for x in point.x) < far:
            return None
    apart = all(_are_apart(a, b) for k, a in enumerate(boxes) for b in boxes[:k])
    return len(boxes) if apart else None


def _are_apart(a: Sequence[Any], b: Sequence[Any]) -> bool:
    from flint import acb

    return any(not acb(x).overlaps(acb(y)) for x, y in zip(a, b, strict=True))


def _proved(system: PolynomialSystem, points: Points, exact: bool) -> tuple[Solution, ...]:
    square = len(system.equations) == system.count
    solutions = []
    for point in points.real:
        go_on()
        box = certified(system, point.x) if square else None
        if box is not None:
            x, radius, proof = floats_of(box.box), box.radius, "Krawczyk"
        else:
            x, radius = floats_of(point.x), max(float(v.rad()) for v in point.x)
            proof = "exact" if exact and points.engine == "FLINT" else ""
        solutions.append(Solution(tuple(x), proof, radius, point.multiplicity))
    return tuple(solutions)
