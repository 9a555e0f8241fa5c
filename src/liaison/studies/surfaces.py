"""Response surfaces: a polynomial in the values, fitted to a measure by least squares.

    f ≈ Σ c_α x^α,   |α| ≤ degree,   x scaled to −1 … 1

Public names: Surface, fitted_surface.

Source: MM95 §2.2 (least squares), §2.4 (R² and its adjustment).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import final

import numpy as np

from liaison.errors import LiaisonError
from liaison.numeric import Array


@final
@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """A fitted polynomial.

    Attributes:
        low: least values, by which they are scaled.
        high: largest values.
        powers: numbers of the values whose product each term is; () of the constant.
        coefficients: of the terms.
        r2: part of the variance that it explains, adjusted for the number of terms.
        deviation: root of the mean square of what it misses.
    """

    low: Array
    high: Array
    powers: tuple[tuple[int, ...], ...]
    coefficients: Array
    r2: float
    deviation: float

    def __call__(self, values: Array) -> Array:
        """The surface at rows of values."""
        return _terms(self._scaled(values), self.powers) @ self.coefficients

    def _scaled(self, values: Array) -> Array:
        return 2 * (values - self.low) / (self.high - self.low) - 1


def fitted_surface(values: Array, f: Array, degree: int = 2) -> Surface:
    """The polynomial of a degree that fits a measure best.

    Args:
        values: rows of values.
        f: the measure at each; rows without a finite value are left out.
        degree: of the polynomial.

    Raises:
        LiaisonError: there are fewer runs than terms, or values that do not vary.
    """
    good = np.isfinite(f)
    values, f = values[good], f[good]
    names = range(values.shape[1])
    powers = tuple(x for n in range(degree + 1) for x in combinations_with_replacement(names, n))
    if len(f) <= len(powers):
        raise LiaisonError(
            f"a surface of degree {degree} has {len(powers)} terms; {len(f)} runs do not "
            "determine it.",
            hint="Make more runs, or lower the degree.",
        )
    low, high = values.min(axis=0), values.max(axis=0)
    if not np.all(low < high):
        raise LiaisonError("a value does not vary: there is no surface over it.")
    empty = Surface(low, high, powers, np.zeros(len(powers)), 0.0, 0.0)
    terms = _terms(empty._scaled(values), powers)
    coefficients = np.linalg.lstsq(terms, f, rcond=None)[0]
    left = f - terms @ coefficients
    missed, spread = float(left @ left), float(np.sum((f - f.mean()) ** 2))
    free = len(f) - len(powers)
    r2 = 1 - (missed / free) / (spread / (len(f) - 1)) if spread else 1.0
    return Surface(low, high, powers, coefficients, r2, float(np.sqrt(missed / len(f))))


def _terms(x: Array, powers: tuple[tuple[int, ...], ...]) -> Array:
    return np.column_stack([np.prod(x[:, list(k)], axis=1) for k in powers])
