"""Numbers among the options of readers: of any kind, or texts with units, in SI.

Public names: number_of, plain_numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from liaison.errors import ArgumentError, LiaisonError
from liaison.units import si_exact

UNITS: Mapping[str, tuple[str, ...]] = {
    "stiffness": ("N*m/rad", "N/m"),
    "damping": ("N*m*s/rad", "N*s/m"),
    "ground": ("m",),
    "friction": ("",),
    "restitution": ("",),
}
"""Option that is a number -> the units that it may have; "" for a pure number."""


def number_of(x: Any, what: str, units: Sequence[str] = ("",)) -> Any:
    """A finite number in SI, as exact as it came: int, Fraction or float.

    Args:
        x: a number of any kind, an array without axes, or a text such as "20 deg".
        what: whose it is, for messages: "the pose of joint 'knee'".
        units: SI units, to one of which the unit of a text converts.

    Raises:
        ArgumentError: it is no number, or not finite; or the unit of a text is not one meant.
    """
    value = x.item() if isinstance(x, np.generic | np.ndarray) and not np.ndim(x) else x
    if isinstance(value, str):
        return _of_text(value, what, units)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | Decimal):
        shown = repr(x) if len(repr(x)) <= 60 else f"{repr(x)[:57]}…"
        raise ArgumentError(f"{what} is {shown}; it must be {_asked(units)}.")
    if not isinstance(value, int | Fraction) and not math.isfinite(value):
        raise ArgumentError(f"{what} is {value}; it must be a finite number.")
    return Fraction(value) if isinstance(value, Decimal) else value


def _asked(units: Sequence[str]) -> str:
    """What is asked for, in words."""
    if not units[0]:
        return "a number"
    return f"a number in {' or '.join(units)}, or a text with its unit, as '1 {units[0]}'"


def _of_text(text: str, what: str, units: Sequence[str]) -> Any:
    """The number of a text, in the first of the units that it converts to."""
    first: LiaisonError | None = None
    for unit in units:
        try:
            value, power = si_exact(text, unit, what, error=ArgumentError)
            return value if not power else float(value) * math.pi**power
        except OverflowError:
            raise ArgumentError(f"{what} is {text!r}, too large a number.") from None
        except LiaisonError as error:
            first = first or error
    assert first is not None
    raise first


def plain_numbers(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a reader whose numbers are plain; texts with units that depend on a joint stay.

    Raises:
        ArgumentError: what must be a number is none; see `number_of`.
    """
    plain = dict(options)
    for word in UNITS.keys() & options.keys():
        x = options[word]
        if x is None or (word == "ground" and isinstance(x, bool | np.bool_)):
            continue
        value = number_of(x, word, UNITS[word])
        plain[word] = x if isinstance(x, str) and len(UNITS[word]) > 1 else value
    return plain
