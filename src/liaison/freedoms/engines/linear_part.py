"""Polynomial systems rid of their linear equations: fewer unknowns, the same solutions.

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
    kept: tuple[int, ...]
    solved: Mapping[int, Linear]

    def completed(self, x: Sequence[Any]) -> list[Any]:
        """All unknowns from those that were kept, on balls."""
        from flint import arb, fmpq

        values = dict(zip(self.kept, x, strict=True))
        for place, form in self.solved.items():
            total = arb(0)
            for k, c in form.items():
                number = arb(fmpq(c.numerator, c.denominator))
                total = total + (number if k < 0 else number * values[k])
            values[place] = total
        return [values[k] for k in range(len(values))]


def without_linear(polynomials: Sequence[Polynomial], count: int) -> Reduced:
    """The system after Gauss's elimination with its linear equations."""
    solved: dict[int, Linear] = {}
    others = [f for f in polynomials if max(map(sum, f)) > 1]
    waiting = [_linear(f) for f in polynomials if max(map(sum, f)) <= 1]
    contradictions: list[Polynomial] = []
    while waiting:
        form = _substituted(waiting.pop(), solved)
        places = [k for k in form if k >= 0]
        if not places:
            if form.get(-1):
                contradictions.append({(0,) * count: form[-1]})
            continue
        place = min(places, key=lambda k: (_weight(form[k]), k))
        scale = -form.pop(place)
        row = {k: c / scale for k, c in form.items()}
        solved = {k: _substituted(known, {place: row}) for k, known in solved.items()}
        solved[place] = row
    kept = tuple(k for k in range(count) if k not in solved)
    forms = {k: _polynomial(row, count) for k, row in solved.items()}
    reduced = [_put(f, forms, count) for f in others] + contradictions
    return Reduced([_narrowed(f, kept) for f in reduced if f], kept, solved)


def _weight(c: Fraction) -> int:
    """Simple numbers are divided by first."""
    return c.numerator.bit_length() + c.denominator.bit_length()


def _linear(f: Polynomial) -> Linear:
    return {m.index(1) if any(m) else -1: c for m, c in f.items() if c}


def _substituted(form: Linear, solved: Mapping[int, Linear]) -> Linear:
    result: Linear = {}
    for k, c in form.items():
        for j, d in solved[k].items() if k in solved else [(k, Fraction(1))]:
            result[j] = result.get(j, Fraction(0)) + c * d
    return {k: c for k, c in result.items() if c}


def _polynomial(row: Linear, count: int) -> dict[tuple[int, ...], Fraction]:
    return {tuple(int(i == k) for i in range(count)): c for k, c in row.items()}


def _put(f: Polynomial, forms: Mapping[int, Polynomial], count: int) -> Polynomial:
    """A polynomial with linear forms in the place of some unknowns."""
    total: dict[tuple[int, ...], Fraction] = {}
    for m, c in f.items():
        term: dict[tuple[int, ...], Fraction] = {
            tuple(0 if k in forms else e for k, e in enumerate(m)): c
        }
        for k, e in enumerate(m):
            for _ in range(e if k in forms else 0):
                term = _times(term, forms[k])
        for key, value in term.items():
            total[key] = total.get(key, Fraction(0)) + value
    return {m: c for m, c in total.items() if c}


def _times(a: Polynomial, b: Polynomial) -> dict[tuple[int, ...], Fraction]:
    product: dict[tuple[int, ...], Fraction] = {}
    for m, c in a.items():
        for n, d in b.items():
            key = tuple(x + y for x, y in zip(m, n, strict=True))
            product[key] = product.get(key, Fraction(0)) + c * d
    return product


def _narrowed(f: Polynomial, kept: Sequence[int]) -> Polynomial:
    return {tuple(m[k] for k in kept): c for m, c in f.items()}
