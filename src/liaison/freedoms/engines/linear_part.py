"""Polynomial systems without their linear equations: fewer unknowns, the same solutions.

Why it is here: closures in cosines and sines have many linear equations, and the plain Buchberger
algorithm, which knows nothing of them, takes a multiple of the time.

Public names: Reduced, without_linear.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

Polynomial: TypeAlias = Mapping[tuple[int, ...], Fraction]
Linear: TypeAlias = dict[int, Fraction]
"""Coefficients by unknown; the constant at −1."""


@final
@dataclass(frozen=True, slots=True)
class Reduced:
    """Equations in the unknowns that are left, and the others as linear functions of these."""

    polynomials: list[Polynomial]
    remaining: tuple[int, ...]
    solved: Mapping[int, Linear]

    def completed(self, x: Sequence[Any]) -> list[Any]:
        """All unknowns from those that remain, on balls."""
        from flint import arb

        values = dict(zip(self.remaining, x, strict=True))
        for place, form in self.solved.items():
            total = arb(0)
            for k, c in form.items():
                number = arb(_fmpq(c))
                total = total + (number if k < 0 else number * values[k])
            values[place] = total
        return [values[k] for k in range(len(values))]


def without_linear(polynomials: Sequence[Polynomial], count: int) -> Reduced:
    """The system after Gauss's elimination with its linear equations."""
    from flint import fmpq_mpoly_ctx

    linear = [f for f in polynomials if max(map(sum, f)) <= 1]
    solved, is_contradicted = _solved(linear, count)
    ring = fmpq_mpoly_ctx.get((("x", count),), "degrevlex")
    arguments = list(ring.gens())
    for k, form in solved.items():
        arguments[k] = ring.from_dict({_monomial(j, count): _fmpq(c) for j, c in form.items()})
    reduced: list[Polynomial] = []
    for f in polynomials:
        if max(map(sum, f)) > 1:
            whole = ring.from_dict({m: _fmpq(c) for m, c in f.items()})
            composed = whole.compose(*arguments, ctx=ring).to_dict() if solved else whole.to_dict()
            reduced.append(
                {tuple(map(int, m)): Fraction(int(c.p), int(c.q)) for m, c in composed.items()}
            )
    if is_contradicted:
        reduced.append({(0,) * count: Fraction(1)})
    remaining = tuple(k for k in range(count) if k not in solved)
    return Reduced([_narrowed(f, remaining) for f in reduced if f], remaining, solved)


def _solved(linear: Sequence[Polynomial], count: int) -> tuple[dict[int, Linear], bool]:
    """Some unknowns by the others, and whether the equations contradict each other."""
    from flint import fmpq_mat

    order = _simplest_first(linear, count)
    M = fmpq_mat(len(linear), count + 1)
    for i, f in enumerate(linear):
        for m, c in f.items():
            M[i, order.index(m.index(1)) if any(m) else count] = _fmpq(c)
    M, rank = M.rref()
    solved: dict[int, Linear] = {}
    for i in range(rank):
        row = {j: M[i, j] for j in range(count + 1) if M[i, j] != 0}
        first = min(row)
        if first == count:
            return solved, True
        solved[order[first]] = {
            order[j] if j < count else -1: -Fraction(int(c.p), int(c.q))
            for j, c in row.items()
            if j != first
        }
    return solved, False


def _simplest_first(linear: Sequence[Polynomial], count: int) -> list[int]:
    """Unknowns with simple coefficients are eliminated first: numbers stay short."""
    weights = [0] * count
    for f in linear:
        for m, c in f.items():
            if any(m):
                k = m.index(1)
                weights[k] = max(weights[k], c.numerator.bit_length() + c.denominator.bit_length())
    return sorted(range(count), key=lambda k: (weights[k], k))


def _monomial(place: int, count: int) -> tuple[int, ...]:
    return tuple(int(k == place) for k in range(count))


def _fmpq(c: Fraction) -> Any:
    from flint import fmpq

    return fmpq(c.numerator, c.denominator)


def _narrowed(f: Polynomial, remaining: Sequence[int]) -> Polynomial:
    return {tuple(m[k] for k in remaining): c for m, c in f.items()}
