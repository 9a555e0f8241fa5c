"""Laws of formulas with choices: at how many random points modulo a prime they must hold.

A formula with a choice (max, min, abs, sign, if) takes one side or the other at a random point, so
a law of it is tested until every side of every choice has been seen but for a chance below 10⁻⁶.

A square root is a choice where its sign is not free. Let K be the field of what is drawn. If no
product of some of the radicands f₁, …, f_m is a square in K, the signs of the roots are independent
(Kummer): a law that holds for one choice of signs holds for all. If Π f = g², as for √(x²), the
product of the roots is |g|, one choice more. Squares are recognized by their residues: the products
that are squares at each of many random points. Nested roots are taken level by level, over K with
the roots inside. The signs of roots of numbers are known where the radicands are rational; for
nested ones the same test is made at many primes, and what may be a combination is not accepted.

Public names: choices, points_for_choices, radicands, dependent_roots, dependencies, square_numbers,
squares_under, check_laws, CHOICES, JUMPS, EXTRA, POINTS_A_SIDE.

Source: LAN02 VI §8 (Kummer theory); docs/theory/evidence.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import count, islice
from typing import Any, TypeAlias

from liaison.errors import DerivationError
from liaison.expr.graph.evaluate import FRACTION, evaluate
from liaison.expr.graph.node import ONE, Expr, as_expr
from liaison.expr.graph.walk import topological

from .linear import primes_from
from .residues import DEFAULT_PRIME, Ordered, Residues, keeps_laws

CHOICES = frozenset({"abs", "sign", "min", "max", "select"})
"""Operations that take one side or the other, by the order of numbers."""

JUMPS = frozenset({"sign", "select"})
"""Those among them that need not be continuous."""

MOST_CHOICES = 4
"""Choices beyond which their sides are not tried."""

POINTS_A_SIDE = 16
"""Random points for each combination of sides: one is missed with a chance of e⁻¹⁶."""

EXTRA = 24
"""Points beyond the number of roots: squares are recognized wrongly with a chance of 2⁻²⁴."""

Draw: TypeAlias = Callable[[int], tuple[Residues, Mapping[Expr, Any]]]
"""A random point by its number: the domain, and values of symbols."""


def choices(formulas: Sequence[Expr]) -> int | None:
    """How many different conditions choose a side; None if one is of numbers alone.

    Such a condition has one side in truth, and a random one modulo a prime.
    """
    conditions: set[tuple[Expr, ...]] = set()
    for node in topological(list(formulas)):
        if node.op in CHOICES:
            condition = node.args if node.op in ("min", "max") else node.args[:1]
            if not _has_symbols(condition):
                return None
            conditions.add(tuple(condition))
    return len(conditions)


def points_for_choices(
    formulas: Sequence[Expr], least: int, draw: Draw | None = None
) -> int | None:
    """Random points at which a law of formulas must hold; None where no number of them proves it.

    Args:
        formulas: what the law is of.
        least: points where there is no choice.
        draw: random points as the law is tested at; any values of the symbols if not given.
    """
    count = choices(formulas)
    if count is None or count > MOST_CHOICES:
        return None
    related = dependent_roots(radicands(formulas), draw)
    if related is None or count + related > MOST_CHOICES:
        return None
    count += related
    return least if count == 0 else max(least, POINTS_A_SIDE * 2**count)


# Roots ------------------------------------------------------------------------------------------


def radicands(formulas: Sequence[Expr]) -> list[Expr]:
    """What square roots are taken of, also those within inverse functions; arguments first."""
    listed: dict[Expr, None] = {}
    for node in topological(list(formulas)):
        radicand = _radicand(node)
        if radicand is not None and radicand is not ONE:
            listed[radicand] = None
    return list(listed)


def _radicand(node: Expr) -> Expr | None:
    if node.op == "sqrt":
        return as_expr(node.a)
    if node.op in ("asin", "acos"):
        return as_expr(1 - node.a * node.a)
    if node.op == "atan":
        return as_expr(1 + node.a * node.a)
    if node.op == "atan2":
        return as_expr(node.a * node.a + node.b * node.b)
    if node.op == "pow" and node.b.op == "const" and isinstance(node.b.a, Fraction):
        return as_expr(node.a) if node.b.a.denominator == 2 else None
    return None


def _has_symbols(formulas: Sequence[Expr]) -> bool:
    return any(x.op == "symbol" for x in topological(list(formulas)))


def dependent_roots(roots: Sequence[Expr], draw: Draw | None = None) -> int | None:
    """How many independent products of radicands are squares; None where that is not known.

    Radicands of numbers alone count as known where they are rational, which `square_numbers` sees.
    """
    return _known(tuple(roots)) if draw is None else _dependent(roots, draw)


@lru_cache(maxsize=4096)
def _known(roots: tuple[Expr, ...]) -> int | None:
    return _dependent(roots, lambda k: (Residues(DEFAULT_PRIME, 1000 + k), {}))


def _dependent(roots: Sequence[Expr], draw: Draw) -> int | None:
    moving = [x for x in roots if _has_symbols([x])]
    try:
        squares_under([x for x in roots if x not in set(moving)])
    except DerivationError:
        return None
    total = 0
    for level in _levels(moving):  # at points where the roots inside exist
        relations = dependencies(_characters(level, draw), len(level))
        if relations is None:
            return None
        total += len(relations)
    return total


def _levels(roots: Sequence[Expr]) -> list[list[Expr]]:
    """Radicands by how deep roots are nested in them."""
    levels: list[list[Expr]] = []
    depth: dict[Expr, int] = {}
    for x in roots:
        inner = [depth[y] for y in radicands([x]) if y in depth]
        depth[x] = max(inner, default=-1) + 1
        levels += [[]] if depth[x] == len(levels) else []
        levels[depth[x]].append(x)
    return levels


def _characters(roots: Sequence[Expr], draw: Draw) -> Iterator[list[int] | None]:
    """Whether radicands are squares at random points: 0 or 1 each; None where one has no value."""
    formulas = Ordered(roots)
    for k in count():
        domain, at = draw(k)
        yield _bits(formulas, at, domain)


def _bits(roots: Ordered, at: Mapping[Expr, Any], domain: Residues) -> list[int] | None:
    try:
        values = roots.numbers(at, domain)
    except DerivationError:
        return None
    if any(int(x) % domain.p == 0 for x in values):
        return None
    return [int(not domain.is_positive(int(x))) for x in values]


def dependencies(source: Iterator[list[int] | None], size: int) -> list[int] | None:
    """Sets of radicands, as bits, whose products are squares wherever it was tried."""
    wanted = size + EXTRA
    known = (row for row in islice(source, 40 * wanted) if row is not None)
    rows = list(islice(known, wanted))
    if len(rows) < wanted:
        return None
    basis: list[tuple[int, int]] = []  # characters at all points, and the set they belong to
    kernel = []
    for k in range(size):
        bits, members = sum(row[k] << i for i, row in enumerate(rows)), 1 << k
        for other, group in basis:
            if bits ^ other < bits:
                bits, members = bits ^ other, members ^ group
        if bits:
            basis.append((bits, members))
            basis.sort(reverse=True)
        else:
            kernel.append(members)
    return kernel


# Numbers ----------------------------------------------------------------------------------------


def _rational(x: Expr) -> int | None:
    """Numerator times denominator of a rational number; None if it is none."""
    try:
        value = evaluate(x, domain=FRACTION)
    except DerivationError:
        return None
    return int(value.numerator * value.denominator)


def square_numbers(formulas: Sequence[Expr]) -> list[int]:
    """Whole numbers that must be squares modulo a prime, so that roots of numbers have values.

    Raises:
        DerivationError: a nested root is a combination of other roots: which sign it has modulo a
            prime cannot be said.
    """
    roots = tuple(x for x in radicands(formulas) if not _has_symbols([x]))
    return list(_known_squares(roots))


@lru_cache(maxsize=256)
def _known_squares(roots: tuple[Expr, ...]) -> tuple[int, ...]:
    return tuple(squares_under(roots))


def check_laws(formulas: Sequence[Expr], *, series: bool = False) -> None:
    """Numbers whose residues are as independent as they are themselves: a rank modulo a prime is at
    most the rank.

    Raises:
        DerivationError: some are log, other powers than roots, choices (max, if), or sines or exp
            of what may depend on each other.
    """
    if not keeps_laws(formulas, series=series):
        raise DerivationError(
            "a number is a function whose laws are lost modulo primes: log, a power other than a "
            "square root, a choice (max, min, abs, sign, if), exp of several numbers, or a sine of "
            "a part of an inverse function.",
            hint="Give its value, as a fraction or with square roots, sines and cosines.",
        )


def squares_under(roots: Sequence[Expr]) -> list[int]:
    """The same of radicands that are numbers."""
    numbers = [n for x in roots if (n := _rational(x)) is not None]
    nested = [x for x in roots if _rational(x) is None]
    if not nested:
        return numbers
    known = {x: value for x in nested if (value := _recognized(x, numbers)) is not None}
    numbers += [value.numerator * value.denominator for value in known.values()]
    nested = [x for x in nested if x not in known]
    if not nested:
        return numbers
    for level in _levels(nested):  # at primes where the roots inside exist
        for members in _relations(level, numbers):
            product: Any = ONE
            for x in members:
                product = product * x
            value = _recognized(as_expr(product), numbers)
            if value is None:
                raise DerivationError(
                    "a nested square root of numbers may be a combination of other roots, so that "
                    "its sign modulo a prime is not known.",
                    hint="Write it without nesting, as (√6 + √2)/2 for √(2 + √3).",
                )
            numbers.append(value.numerator * value.denominator)
    return numbers


def _relations(roots: Sequence[Expr], numbers: Sequence[int]) -> list[list[Expr]]:
    """Sets of radicands that are numbers, no two the same, whose products seem to be squares."""
    wanted = len(roots) + EXTRA
    rows: list[tuple[Residues, list[int]]] = []
    for p in islice(primes_from(77, numbers), 16 * wanted):
        domain = Residues(p)
        with suppress(DerivationError):
            rows.append((domain, [int(x) for x in evaluate(list(roots), domain=domain)]))
        if len(rows) == wanted:
            break
    columns = {tuple(row[k] for _, row in rows): x for k, x in enumerate(roots)}
    different = list(columns.values())
    bits = ([int(not domain.is_positive(values[k])) for values in columns]
            for k, (domain, _) in enumerate(rows))  # fmt: skip
    relations = dependencies(iter(bits), len(different)) if len(rows) == wanted else None
    if relations is None:
        raise DerivationError("nested square roots of numbers have no value modulo many primes.")
    return [[x for k, x in enumerate(different) if members >> k & 1] for members in relations]


def _recognized(x: Expr, numbers: Sequence[int]) -> Fraction | None:
    """The rational number that a formula of numbers is, by a ball and modulo two primes."""
    from .balls import balls, precision
    from .multivariate import rational_near

    with precision(512):
        value = rational_near(balls([x])[0])
    if value is None or not _agrees(x, value, numbers):
        return None
    return value


def _agrees(formula: Expr, value: Fraction, numbers: Sequence[int]) -> bool:
    """A number is this rational, modulo two primes."""
    seen = 0
    for p in islice(primes_from(5, numbers), 200):
        try:
            number = int(evaluate(formula, domain=Residues(p)))
        except DerivationError:
            continue
        if (number * value.denominator - value.numerator) % p:
            return False
        seen += 1
        if seen == 2:
            return True
    return False
