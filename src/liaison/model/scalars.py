"""Scalars, vectors and matrices as the records keep them: immutable, finite, equal by value.

Public names: scalar, triple, matrix, check_name.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from liaison.errors import ModelError, Place
from liaison.expr import Expr
from liaison.spatial import Scalar

Triple = tuple[Any, Any, Any]
Matrix = tuple[Triple, Triple, Triple]


def scalar(x: Any, what: str, place: Place | None = None) -> Scalar:
    """One number or formula, exact if it came exact.

    Args:
        x: int, Fraction, Decimal, float, a NumPy number or a formula.
        what: whose it is, for the message: "the mass of body 'crank'".
        place: where the author said it.

    Raises:
        ModelError: it is no number, or not finite.
    """
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, Decimal) and x.is_finite():
        x = Fraction(x)
    if isinstance(x, bool) or not isinstance(x, int | Fraction | float | Decimal | Expr):
        raise ModelError(f"{what} is {x!r}; it must be a number or a formula.", place=place)
    if isinstance(x, float | Decimal) and not math.isfinite(x):
        raise ModelError(f"{what} is {x}; it must be a finite number.", place=place)
    if isinstance(x, Decimal):
        return Fraction(x)
    return float(x) if isinstance(x, float) else x


def triple(x: Any, what: str, place: Place | None = None) -> Triple:
    """Three scalars."""
    entries = _entries(x, what, place)
    if len(entries) != 3:
        raise ModelError(
            f"{what} has {len(entries)} components, {tuple(entries)}; it must have three.",
            place=place,
        )
    a, b, c = (scalar(entry, what, place) for entry in entries)
    return a, b, c


def matrix(x: Any, what: str, place: Place | None = None) -> Matrix:
    """Three rows of three scalars."""
    rows = _entries(x, what, place)
    if len(rows) != 3:
        raise ModelError(f"{what} has {len(rows)} rows; it must have three.", place=place)
    a, b, c = (triple(row, what, place) for row in rows)
    return a, b, c


def _entries(x: Any, what: str, place: Place | None) -> list[Any]:
    try:
        return list(x)
    except TypeError:
        raise ModelError(f"{what} is {x!r}; it must be a list of three.", place=place) from None


def check_name(kind: str, name: Any, place: Place | None = None) -> None:
    """Refuses a name that is no text, is empty, or could not be told from another's rate.

    Raises:
        ModelError: with the name found.
    """
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"a {kind} is named {name!r}; it must be named by a word.", place=place)
    if "'" in name or name != name.strip():
        raise ModelError(
            f"{kind} {name!r}: a name has no quotes (they mark rates) and no spaces around it.",
            place=place,
        )
