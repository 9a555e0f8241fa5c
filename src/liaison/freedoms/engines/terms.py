"""Polynomials as exact coefficients by exponents: sums and products, before any number is rounded.

Why it is here: coefficients are whole numbers, fractions, formulas or balls, and FLINT's
polynomials in several unknowns have rationals or residues only. Zeros that are seen are left out.

Public names: Terms, plain, unknown, total, scaled, times, raised, combined.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

Terms: TypeAlias = dict[tuple[int, ...], Any]


def plain(value: Any, count: int) -> Terms:
    """A constant, among so many unknowns."""
    return {} if _is_zero(value) else {(0,) * count: value}


def unknown(place: int, count: int) -> Terms:
    """One of the unknowns."""
    return {tuple(int(k == place) for k in range(count)): 1}


def total(*parts: Terms) -> Terms:
    """The sum."""
    sums: Terms = {}
    for part in parts:
        for m, c in part.items():
            sums[m] = sums[m] + c if m in sums else c
    return {m: c for m, c in sums.items() if not _is_zero(c)}


def scaled(f: Terms, factor: Any) -> Terms:
    """A number times a polynomial."""
    return {} if _is_zero(factor) else {m: factor * c for m, c in f.items()}


def times(f: Terms, g: Terms) -> Terms:
    """The product."""
    product: Terms = {}
    for m, c in f.items():
        for n, d in g.items():
            key = tuple(a + b for a, b in zip(m, n, strict=True))
            product[key] = product[key] + c * d if key in product else c * d
    return {m: c for m, c in product.items() if not _is_zero(c)}


def raised(f: Terms, place: int, factor: Any = 1) -> Terms:
    """An unknown times a number times a polynomial."""
    return {tuple(e + (k == place) for k, e in enumerate(m)): factor * c for m, c in f.items()}


def combined(numbers: Sequence[Any], parts: Iterable[Terms]) -> Terms:
    """Σ number · polynomial."""
    return total(*(scaled(f, c) for c, f in zip(numbers, parts, strict=True)))


def _is_zero(c: Any) -> bool:
    return isinstance(c, int) and c == 0
