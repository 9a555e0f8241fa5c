"""SI inside; unit words at the doors only. A `Label` is a name with its unit.

Public names: Label, Unit, UNITS, unit_named.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from liaison.errors import NamingError, Place


@final
@dataclass(frozen=True, slots=True)
class Label:
    """The name of one entry of a vector, and its SI unit ("" for a pure number)."""

    name: str
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit else self.name


@final
@dataclass(frozen=True, slots=True)
class Unit:
    """A unit word: exact factor to SI (times π where `pi`), and exponents of (m, kg, s, rad)."""

    factor: Fraction
    dimension: tuple[int, int, int, int]
    pi: bool = False


def _units() -> dict[str, Unit]:
    length, mass, time, angle = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
    force, torque, energy = (1, 1, -2, 0), (2, 1, -2, 0), (2, 1, -2, 0)
    rows: list[tuple[str, str, tuple[int, int, int, int]]] = [
        ("m", "1", length), ("mm", "1/1000", length), ("cm", "1/100", length),
        ("km", "1000", length), ("um", "1/1000000", length), ("inch", "254/10000", length),
        ("ft", "3048/10000", length),
        ("kg", "1", mass), ("g", "1/1000", mass), ("t", "1000", mass),
        ("lb", "45359237/100000000", mass),
        ("s", "1", time), ("ms", "1/1000", time), ("min", "60", time), ("h", "3600", time),
        ("rad", "1", angle), ("mrad", "1/1000", angle),
        ("N", "1", force), ("kN", "1000", force), ("mN", "1/1000", force), ("Nm", "1", torque),
        ("J", "1", energy), ("kJ", "1000", energy),
        ("W", "1", (2, 1, -3, 0)), ("kW", "1000", (2, 1, -3, 0)),
        ("Hz", "1", (0, 0, -1, 0)), ("Pa", "1", (-1, 1, -2, 0)), ("bar", "100000", (-1, 1, -2, 0)),
        ("MPa", "1000000", (-1, 1, -2, 0)), ("GPa", "1000000000", (-1, 1, -2, 0)),
    ]  # fmt: skip
    table = {word: Unit(Fraction(factor), dimension) for word, factor, dimension in rows}
    table["deg"] = Unit(Fraction(1, 180), angle, pi=True)
    table["rev"] = Unit(Fraction(2), angle, pi=True)
    table["rpm"] = Unit(Fraction(1, 30), (0, 0, -1, 1), pi=True)
    return table


UNITS: dict[str, Unit] = _units()


def unit_named(word: str, place: Place | None = None) -> Unit:
    """The unit of a word; refuses an unknown word and proposes the nearest."""
    if word in UNITS:
        return UNITS[word]
    folded = {known.lower(): known for known in UNITS}
    near = folded.get(word.lower()) or next(iter(difflib.get_close_matches(word, UNITS, n=1)), None)
    raise NamingError.unknown("unit", word, [near] if near else UNITS, place=place)
