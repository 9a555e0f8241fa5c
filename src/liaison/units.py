"""Units: SI inside, other units only in input and output. A `Label` is a name with its unit.

Angles are pure numbers, so that rad/s and 1/s are one dimension. Turns per second are not radians
per second: Hz counts cycles, also in products, and a count of cycles in the place of an angle, or
of anything that is no count and no rate, is an error; a factor of π makes an angle of it.

Texts with a number and a unit ("250 g", "-9.81 m/s^2", "1/3 m", "pi/2 rad") are read by `quantity`,
and `si_value` and `si_exact` are their values in SI, the dimension checked.

Public names: Label, FORCE, MOMENT, effort_along, Unit, UNITS, Dimension, PURE, ANGLE, LENGTH, TIME,
VELOCITY, FREQUENCY, PITCH, TURNING, unit_named, unit_of, si_unit, same, converts, Quantity,
quantity, si_exact, si_value, si_values.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, final

from .errors import ArgumentError, LiaisonError, NamingError, Place, TextError

Dimension: TypeAlias = tuple[int, int, int, int, int]
"""Exponents of m, kg, s, rad, cycle."""

PURE: Dimension = (0, 0, 0, 0, 0)
LENGTH: Dimension = (1, 0, 0, 0, 0)
TIME: Dimension = (0, 0, 1, 0, 0)
VELOCITY: Dimension = (1, 0, -1, 0, 0)
ANGLE: Dimension = (0, 0, 0, 1, 0)
PITCH: Dimension = (1, 0, 0, -1, 0)
TURNING: Dimension = (0, 0, -1, 1, 0)
FREQUENCY: Dimension = (0, 0, -1, 0, 1)

MAX_UNIT_EXPONENT = 9


@final
@dataclass(frozen=True, slots=True)
class Label:
    """The name of one entry of a vector, and its SI unit ("" for a pure number).

    Example:
        >>> import liaison
        >>> print(liaison.Label("A'", "rad/s"))
        A' [rad/s]
    """

    name: str
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name


FORCE, MOMENT = "N", "N*m"
"""How labels spell the units of efforts."""


def effort_along(motion: str) -> str:
    """The unit of the effort along a motion of unit m, m/s, rad or rad/s; "" along any other."""
    return {"m": FORCE, "rad": MOMENT}.get(motion.removesuffix("/s"), "")


@final
@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: exact factor to SI, dimension, and the power of π that multiplies the factor."""

    factor: Fraction
    dimension: Dimension
    pi: int = 0


def _units() -> dict[str, Unit]:
    length, mass, time, angle = LENGTH, (0, 1, 0, 0, 0), TIME, ANGLE
    force, torque, energy = (1, 1, -2, 0, 0), (2, 1, -2, 0, 0), (2, 1, -2, 0, 0)
    pressure = (-1, 1, -2, 0, 0)
    rows: list[tuple[str, str, Dimension]] = [
        ("m", "1", length), ("mm", "1/1000", length), ("cm", "1/100", length),
        ("km", "1000", length), ("um", "1/1000000", length), ("inch", "254/10000", length),
        ("ft", "3048/10000", length),
        ("kg", "1", mass), ("g", "1/1000", mass), ("tonne", "1000", mass),
        ("lb", "45359237/100000000", mass),
        ("s", "1", time), ("ms", "1/1000", time), ("min", "60", time), ("h", "3600", time),
        ("rad", "1", angle), ("mrad", "1/1000", angle),
        ("N", "1", force), ("kN", "1000", force), ("mN", "1/1000", force), ("Nm", "1", torque),
        ("J", "1", energy), ("kJ", "1000", energy),
        ("W", "1", (2, 1, -3, 0, 0)), ("kW", "1000", (2, 1, -3, 0, 0)),
        ("Hz", "1", FREQUENCY), ("Pa", "1", pressure), ("bar", "100000", pressure),
        ("MPa", "1000000", pressure), ("GPa", "1000000000", pressure),
    ]  # fmt: skip
    table = {word: Unit(Fraction(factor), dimension) for word, factor, dimension in rows}
    table["deg"] = Unit(Fraction(1, 180), angle, pi=1)
    table["rev"] = Unit(Fraction(2), angle, pi=1)
    table["rpm"] = Unit(Fraction(1, 30), TURNING, pi=1)
    return table


UNITS: dict[str, Unit] = _units()


OTHERS = {"µm": "um", "μm": "um", "°": "deg", "degree": "deg", "degrees": "deg", "tr": "rev",
          "turn": "rev", "turns": "rev", "sec": "s", "second": "s", "seconds": "s",
          "in": "inch", "meter": "m", "meters": "m", "metre": "m", "metres": "m", "gram": "g",
          "kilogram": "kg", "kgs": "kg", "newton": "N", "joule": "J", "watt": "W", "hour": "h",
          "radian": "rad", "radians": "rad"}  # fmt: skip
"""Words that people write for a unit, and the one there is."""


def unit_named(word: str, place: Place | None = None) -> Unit:
    """The unit of a word; rejects an unknown word and proposes the nearest."""
    if word in UNITS:
        return UNITS[word]
    folded = {known.lower(): known for known in UNITS}
    near = OTHERS.get(word) or folded.get(word.lower())
    near = near or next(iter(difflib.get_close_matches(word, UNITS, n=1)), None)
    error = NamingError.unknown("unit", word, [near] if near else UNITS)
    if near and word in OTHERS:  # spelled otherwise altogether
        error = NamingError(f"no unit is named {word!r}; did you mean {near!r}?")
    error.meant = (word, near) if near else None
    raise error.at(place)


def unit_of(text: str, place: Place | None = None) -> Unit:
    """The unit of a text such as 'mm', 'kg*m^2/s', '1/s' or ''; rejects anything else."""
    try:
        return _compound(text)
    except (NamingError, TextError) as error:
        raise error.at(place) from None


_FACTOR = r"([*/]?)([^\W\d_]+|°)(?:\^(-?\d+))?"


@lru_cache(maxsize=1000)
def _compound(text: str) -> Unit:
    bare = re.sub(r"^1(?=/|$)", "", text)
    if not re.fullmatch(rf"(?:{_FACTOR})*", bare) or bare.startswith("*"):
        raise TextError(f"{text!r} is no unit; units are written like mm, N/m or kg*m^2.")
    factor, turns, total = Fraction(1), 0, [0, 0, 0, 0, 0]
    for operator, word, exponent in re.findall(_FACTOR, bare):
        power = int(exponent[:6] or 1) * (-1 if operator == "/" else 1)
        if abs(power) > MAX_UNIT_EXPONENT:
            raise TextError(f"the exponent {power} of unit {word!r} is too large.")
        unit = unit_named(word)
        factor *= unit.factor**power
        turns += power * unit.pi
        total = [a + power * b for a, b in zip(total, unit.dimension, strict=True)]
    return Unit(factor, (total[0], total[1], total[2], total[3], total[4]), turns)


def same(a: Dimension | None, b: Dimension | None) -> bool:
    """Whether two dimensions agree: an angle is a pure number, the unknown agrees with all.

    Cycles agree with pure numbers and Hz with 1/s, but not with angles and rad/s.
    """
    if a is None or b is None:
        return True
    if a[:3] != b[:3]:
        return False
    return a[4] == b[4] or (a[:2] == (0, 0) and a[3] == b[3] == 0 and abs(a[4] - b[4]) == 1)


def si_unit(dimension: Dimension | None) -> str:
    """The SI unit of a dimension as text; '' for a pure number or an unknown dimension."""
    if dimension is None:
        return ""
    if dimension == FREQUENCY:
        return "Hz"
    if dimension[:4] == PITCH[:4]:
        return "m/rad"
    known = {(1, 1, -2): FORCE, (2, 1, -2): MOMENT, (0, 1, -2): "N/m", (0, 1, -1): "N*s/m"}
    if dimension[:3] in known:
        return known[dimension[:3]]
    angle = dimension[3] if dimension[:2] == (0, 0) and dimension[3] == 1 else 0
    words = list(zip(("kg", "m", "rad", "s"), (dimension[1], dimension[0], angle, dimension[2])))
    top = "*".join(_word(word, n) for word, n in words if n > 0)
    bottom = "".join(f"/{_word(word, -n)}" for word, n in words if n < 0)
    return f"{top or '1'}{bottom}" if top or bottom else ""


def _word(word: str, n: int) -> str:
    return word if n == 1 else f"{word}^{n}"


# Texts with a number and a unit -------------------------------------------------------------------

_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?"
_QUANTITY = re.compile(
    rf"([-+]?)\s*(?:({_NUMBER})(?:\s*\*)?)?\s*(pi(?![^\W\d_])|π)?(?:\s*/\s*({_NUMBER}))?\s*(.*)"
)
_SIGNS = {"−": "-", "·": "*", "²": "^2", "³": "^3"}
LONGEST = 200
"""Characters of a text with a number and a unit, at most."""


@final
@dataclass(frozen=True, slots=True)
class Quantity:
    """What a text says: its number without the unit, as value · π^pi, and the unit as written."""

    value: Fraction
    pi: int
    unit: str


def quantity(
    text: str,
    what: str,
    example: str = "250 g",
    *,
    error: type[LiaisonError] = ArgumentError,
    place: Place | None = None,
) -> Quantity:
    """The number and the unit in a text.

    Args:
        text: such as "250 g", "-9.81 m/s^2", "1/3 m" or "2*pi rad/s".
        what: whose it is, for messages: "the mass of body 'crank'".
        example: a text that is right, for messages.
        error: the class of errors raised here.
        place: where it stands, for messages.
    """
    plain = text.strip()
    for sign, word in _SIGNS.items():
        plain = plain.replace(sign, word)
    match = _QUANTITY.fullmatch(plain) if len(plain) <= LONGEST else None
    if match is None or not (match[2] or match[3]):
        shown = repr(text) if len(text) <= LONGEST else f"{text[:40]!r}…"
        message = f"{what} is {shown}; a text is a number and a unit, such as {example!r}."
        raise error(message, place=place)
    sign, number, pi, divisor, unit = match.groups()
    if divisor and not Fraction(divisor):
        raise error(f"{what} is {text!r}, a division by 0.", place=place)
    value = Fraction(number or 1) / Fraction(divisor or 1)
    unit = re.sub(r"^/", "1/", re.sub(r"\s*([*/^])\s*", r"\1", unit))
    return Quantity(-value if sign == "-" else value, 1 if pi else 0, unit)


def si_exact(
    text: str,
    unit: str,
    what: str,
    *,
    error: type[LiaisonError] = ArgumentError,
    place: Place | None = None,
) -> tuple[Fraction, int]:
    """The value of a text in SI, as (x, n) of x · πⁿ; its unit must convert to the one expected.

    Args:
        text: a number and a unit.
        unit: the SI unit that is meant; "" for a pure number.
        what: whose it is, for messages.
        error: the class of errors raised here.
        place: where it stands, for messages.
    """
    own = quantity(text, what, f"1 {unit or 'deg'}", error=error, place=place)
    if not own.unit:
        number = text.strip()
        write = (
            f"write {f'{number} {unit}'!r}, or a number, which is in SI"
            if unit
            else ("write the number itself")
        )
        raise error(f"{what} is {text!r}, a text without a unit; {write}.", place=place)
    try:
        parsed = unit_of(own.unit)
    except LiaisonError as fault:
        message = f"{what} is {text!r}: {fault.message}"
        raise error(message, place=place, hint=fault.hint) from None
    if not converts(parsed.dimension, unit_of(unit).dimension):
        turns = "A turn a second is 1 rev/s." if "Hz" in (own.unit, unit) else ""
        expected = (
            f"it must be in {unit}, or in a unit that converts to it"
            if unit
            else ("it has no unit, and is a number alone")
        )
        raise error(f"{what} is {text!r}; {expected}.", place=place, hint=turns)
    return own.value * parsed.factor, own.pi + parsed.pi


def converts(own: Dimension, expected: Dimension) -> bool:
    """Whether dimensions agree; a length by an angle must name the angle: mm/rad, mm/rev."""
    return same(own, expected) and (own[3] == -1 or expected[:4] != PITCH[:4])


def si_value(x: Any, unit: str, what: str) -> Any:
    """A float in SI for a text with a unit; anything else as it is.

    Raises:
        ArgumentError: the text has no number, no unit, or a unit of another dimension.
    """
    if not isinstance(x, str):
        return x
    value, power = si_exact(x, unit, what)
    try:
        return float(value) * math.pi**power
    except OverflowError:
        raise ArgumentError(f"{what} is {x!r}, too large a number.") from None


def si_values(x: Any, unit: str, what: str) -> Any:
    """As `si_value`, also for a list or tuple of texts alone, one by one."""
    if isinstance(x, list | tuple) and x and all(isinstance(y, str) for y in x):
        return [si_value(y, unit, what) for y in x]
    return si_value(x, unit, what)
