"""Numbers of constants, and hashes that are the same in every process.

Public names: Pi, Number, Value, THE_PI, exact_or_float, stable_hash.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from numbers import Integral, Rational, Real
from typing import TypeAlias, final

import numpy as np


@final
class Pi:
    """The number π as an exact constant; `float(value)` rounds it."""

    __slots__ = ()

    def __float__(self) -> float:
        return math.pi

    def __repr__(self) -> str:
        return "pi"


THE_PI = Pi()
Number: TypeAlias = int | Fraction | float
Value: TypeAlias = int | Fraction | float | Pi
BITS = (1 << 59) - 1


def exact_or_float(x: object) -> Value | None:
    """The number of any numeric type: int, Fraction, float or Pi; None for what is no number.

    NumPy integers and Decimal are exact, NumPy floats are floats.
    """
    if isinstance(x, float):
        return float(x)
    if isinstance(x, bool | np.bool_):
        raise TypeError(f"{x!r} is a truth value, not a number")
    if isinstance(x, Integral):
        return int(x)
    if isinstance(x, Rational):
        return Fraction(int(x.numerator), int(x.denominator))
    if isinstance(x, Decimal):
        return Fraction(x)
    if isinstance(x, Real):
        return float(x)
    return THE_PI if isinstance(x, Pi) else None


def stable_hash(*parts: object) -> int:
    """59 bits of the content of `parts`, the same in every process."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") & BITS
