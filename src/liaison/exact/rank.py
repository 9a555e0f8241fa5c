"""The rank of a matrix of formulas: by Gauss with cases, by evaluation, modulo primes, by both.

These are ranks of the free matrix. On the variety of a closure they mean nothing by themselves: see
`mobility`. Gauss splits wherever a pivot could vanish; the other three evaluate at random points,
and what they find is a lower bound that is almost always the rank.

Public names: Case, gauss, Evaluation, rank_probabilistic, rank_modular, rank_probabilistic_modular.

Source: PA "calcul de rang", and its case-splitting gausselim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from random import Random
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.expr import (
    FRACTION,
    ZERO,
    Expr,
    as_expr,
    evaluate,
    gradient,
    substitute,
    symbols_of,
    topological,
)
from liaison.lazy import Shown

from .choices import points_for_choices
from .linear import PRIME_STEP, primes_from
from .linear import rank as rank_mod
from .residues import DEFAULT_PRIME, residues

Matrix: TypeAlias = NDArray[Any]
CASES = 64
"""Most cases that an elimination may split into."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Case(Shown):
    """What elimination finds under conditions: formulas that vanish (False) or do not (True)."""

    conditions: tuple[tuple[Expr, bool], ...]
    matrix: Matrix  # in echelon form
    rank: int
    is_resolved: bool = True  # every formula assumed zero was used throughout the matrix


PAIR = (DEFAULT_PRIME, DEFAULT_PRIME - 15 * PRIME_STEP)
"""Primes taken in turn: a number in a formula may be a multiple of one."""


def is_null(x: Expr) -> bool:
    """Vanishes identically, by random points modulo 61-bit primes, on every side of choices."""
    if x.op == "const":
        return bool(x.a == 0)
    points = points_for_choices([x], 2) or 1000
    domains = (residues(PAIR[k % 2], k) for k in range(1, points + 1))
    return all(int(evaluate(x, domain=domain)) == 0 for domain in domains)


def _formulas(matrix: Any) -> Matrix:
    entries = np.asarray(matrix, dtype=object)
    return np.vectorize(as_expr, otypes=[object])(entries) if entries.size else entries


def gauss(matrix: Any) -> list[Case]:
    """Elimination that splits where a pivot is a formula: `if x ≠ 0 … else …`.

    Args:
        matrix: of formulas and numbers; entries may hold opaque functions of time.

    The first entry of a column that does not vanish identically is its pivot, as in the document.

    Returns:
        The cases, those with more non-zero pivots first; their conditions exclude each other.

    Raises:
        DerivationError: more than CASES cases.
    """
    waiting = [_Elimination(_formulas(matrix), 0, 0, (), True)]
    cases: list[Case] = []
    while waiting:
        state = waiting.pop(0)
        further = state.step()
        waiting = further + waiting
        if not further:
            cases.append(Case(state.conditions, state.matrix, state.row, state.is_resolved))
        if len(cases) + len(waiting) > CASES:
            raise DerivationError(f"the elimination splits into more than {CASES} cases.")
    return cases


@dataclass(frozen=True)
class _Elimination:
    """An elimination under way: pivots above `row`, columns before `column` done."""

    matrix: Matrix
    row: int
    column: int
    conditions: tuple[tuple[Expr, bool], ...]
    is_resolved: bool

    def step(self) -> list[_Elimination]:
        """What follows; nothing where it is finished."""
        rows, columns = self.matrix.shape
        if self.row == rows or self.column == columns:
            return []
        below = range(self.row, rows)
        nonzero = [i for i in below if not is_null(self.matrix[i, self.column])]
        if not nonzero:
            return [self._next_column()]
        first = nonzero[0]
        if self._is_sure(self.matrix[first, self.column]):
            return [self._eliminated(first)]
        pivot = self.matrix[first, self.column]
        return [self._assume(pivot, True)._eliminated(first), *self._vanishing(first)]

    def _next_column(self) -> _Elimination:
        return _Elimination(
            self.matrix, self.row, self.column + 1, self.conditions, self.is_resolved
        )

    def _is_sure(self, x: Expr) -> bool:
        """Cannot vanish: a number but 0, or assumed not to."""
        if _is_plain(x) and not symbols_of([x]):
            return not is_null(x)
        return any(holds and is_null(as_expr(x - y)) for y, holds in self.conditions)

    def _assume(self, x: Expr, holds: bool) -> _Elimination:
        conditions = (*self.conditions, (x, holds))
        return _Elimination(self.matrix, self.row, self.column, conditions, self.is_resolved)

    def _eliminated(self, i: int) -> _Elimination:
        M = self.matrix.copy()
        M[[self.row, i]] = M[[i, self.row]]
        pivot = M[self.row, self.column]
        for k in range(self.row + 1, M.shape[0]):
            factor = M[k, self.column] / pivot
            for j in range(self.column, M.shape[1]):
                entry = as_expr(M[k, j] - factor * M[self.row, j])
                M[k, j] = ZERO if j == self.column else _as_number(entry)
        return _Elimination(M, self.row + 1, self.column + 1, self.conditions, self.is_resolved)

    def _vanishing(self, i: int) -> list[_Elimination]:
        """The case in which a possible pivot vanishes; used to replace an unknown if it can.

        There is none where what was assumed not to vanish would vanish with it.
        """
        x = self.matrix[i, self.column]
        solution = _solved(x, self._is_sure)
        M = self.matrix.copy()
        if solution:
            nonzero = [y for y, holds in self.conditions if holds]
            try:
                flat = substitute(list(M.ravel()), solution)
                if any(map(is_null, substitute(nonzero, solution))):
                    return []
            except ZeroDivisionError:
                return []
            M = np.array([_as_number(y) for y in flat], dtype=object).reshape(M.shape)
        M[i, self.column] = ZERO
        after = self._assume(x, False)
        resolved = self.is_resolved and bool(solution)
        return [_Elimination(M, self.row, self.column, after.conditions, resolved)]


def _solved(x: Expr, is_sure: Any) -> dict[Expr, Expr]:
    """An unknown of x and its value where x = 0, if x is linear in it with a sure coefficient."""
    for unknown in symbols_of([x]):
        slope = gradient(x, [unknown])[0]
        if unknown not in symbols_of([slope]) and is_sure(slope):
            rest = substitute([x], {unknown: ZERO})[0]
            return {unknown: as_expr(-rest / slope)}
    return {}


def _is_plain(x: Expr) -> bool:
    """Holds no unknown function."""
    return not any(node.op == "call" for node in topological([x]))


def _as_number(x: Expr) -> Expr:
    """The number that a formula is wherever it is defined, as x − (x − 1); else the formula."""
    if is_null(x):
        return ZERO
    symbols = symbols_of([x])
    if not symbols or not _is_plain(x) or not all(map(is_null, gradient(x, symbols))):
        return x
    for k in range(2, 20):  # at some of these points no divisor is zero
        with suppress(ZeroDivisionError):
            number = substitute([x], {y: as_expr(k + j) for j, y in enumerate(symbols)})[0]
            return number if is_null(as_expr(x - number)) else x
    return x


# By evaluation ----------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class Evaluation:
    """A rank, and the numbers it was seen on."""

    rank: int
    matrix: Matrix
    point: Mapping[str, Any]
    primes: tuple[int, ...] = ()


def _points(entries: Sequence[Expr], at: Mapping[str, Any] | None, seed: int) -> dict[Expr, Any]:
    """A random whole number for each symbol, a rational point of the circle for each angle."""
    draw = Random(seed)
    at = at or {}
    point: dict[Expr, Any] = {}
    for node in symbols_of(list(entries)):
        point[node] = Fraction(at.get(str(node.a), draw.randrange(1, 1000)))
    for node in topological(list(entries)):
        if node.op in ("sin", "cos"):
            t = point.get(node.args[0])
            if t is None:
                raise DerivationError(
                    f"{node.op} of a formula has no rational value.",
                    hint="Use rank_probabilistic_modular.",
                )
            point[node] = 2 * t / (1 + t * t) if node.op == "sin" else (1 - t * t) / (1 + t * t)
    return point


def _rational(matrix: Any, at: Mapping[str, Any] | None, seed: int) -> tuple[Matrix, Any]:
    M = _formulas(matrix)
    values = _points(list(M.ravel()), at, seed)
    numbers = evaluate(list(M.ravel()), values, FRACTION)
    numeric = np.array(numbers, dtype=object).reshape(M.shape)
    return numeric, {str(node.a): x for node, x in values.items() if node.op == "symbol"}


def rank_probabilistic(
    matrix: Any, *, at: Mapping[str, Any] | None = None, seed: int = 0
) -> Evaluation:
    """The rank at a random rational point, exactly.

    Args:
        matrix: of formulas; an angle's value is taken for tan(θ/2).
        at: values by name, instead of random ones.
        seed: of the draw.
    """
    from flint import fmpq, fmpq_mat

    numbers, point = _rational(matrix, at, seed)
    entries = [fmpq(x.numerator, x.denominator) for x in numbers.ravel()]
    return Evaluation(int(fmpq_mat(*numbers.shape, entries).rank()), numbers, point)


def rank_modular(
    matrix: Any,
    *,
    at: Mapping[str, Any] | None = None,
    primes: Sequence[int] = (),
    seed: int = 0,
) -> Evaluation:
    """The rank at a rational point, freed of its denominators, modulo primes."""
    numbers, point = _rational(matrix, at, seed)
    scale = lcm(*(x.denominator for x in numbers.ravel()))
    whole = np.array([int(x * scale) for x in numbers.ravel()], dtype=object)
    whole = whole.reshape(numbers.shape)
    source = primes_from(seed)
    chosen = tuple(primes) or tuple(next(source) for _ in range(3))
    best = max(rank_mod(whole.tolist(), p) for p in chosen)
    return Evaluation(best, whole, point, chosen)


def rank_probabilistic_modular(
    matrix: Any, *, p: int | None = None, at: Mapping[str, Any] | None = None, seed: int = 0
) -> Evaluation:
    """The rank at a random point modulo p, after checking that no denominator vanishes there.

    Args:
        matrix: of formulas; those with angles need the default prime.
        p: a prime; a random one of 61 bits if not given.
        at: values by name, instead of random ones.
        seed: of the draw.
    """
    M = _formulas(matrix)
    prime = next(primes_from(seed)) if p is None else p
    if p is None:
        values = _values_by_symbol(M, at)
        numbers = [int(x) for x in evaluate(list(M.ravel()), values, residues(prime, seed))]
        point: Mapping[str, Any] = dict(at or {})
    else:
        exact, point = _rational(matrix, at, seed)
        numbers = [_residue(x, prime) for x in exact.ravel()]
    numeric = np.array(numbers, dtype=object).reshape(M.shape)
    return Evaluation(rank_mod(numeric.tolist(), prime), numeric, point, (prime,))


def _values_by_symbol(M: Matrix, at: Mapping[str, Any] | None) -> dict[Expr, Any]:
    return {x: (at or {})[str(x.a)] for x in symbols_of(list(M.ravel())) if str(x.a) in (at or {})}


def _residue(x: Fraction, p: int) -> int:
    if x.denominator % p == 0:
        raise DerivationError(f"a denominator vanishes modulo {p}.", hint="Take another point.")
    return x.numerator * pow(x.denominator, -1, p) % p
