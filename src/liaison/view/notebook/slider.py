"""Sliders: a quantity of a mechanism with the range in which it is moved, in a unit of choice.

Public names: Slider, slider, STEPS.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.errors import ArgumentError
from liaison.units import quantity, si_value

STEPS = 100
"""Places of a slider whose step is not given."""


@final
@dataclass(frozen=True, slots=True)
class Slider:
    """A quantity that is moved by hand.

    Attributes:
        name: label of a parameter, an input, a coordinate or a rate.
        unit: in which the numbers below are shown.
        factor: SI units in one of these.
        low, high: ends of the range.
        step: from one place to the next.
        value: to begin with.
    """

    name: str
    unit: str
    factor: float
    low: float
    high: float
    step: float
    value: float

    def in_si(self, value: float) -> float:
        """A place of the slider in SI, within its range."""
        return min(max(value, self.low), self.high) * self.factor

    def text(self, value: float) -> str:
        """A value in SI by name and in the unit that is shown: a = 12 cm."""
        return f"{self.name} = {value / self.factor:.6g} {self.unit}".rstrip()

    def to_plain(self) -> dict[str, Any]:
        """What the controls in the cell need."""
        names = ("name", "unit", "low", "high", "step", "value")
        return {name: getattr(self, name) for name in names}


def slider(name: str, unit: str, value: float, bounds: Sequence[float | str]) -> Slider:
    """A slider of a quantity.

    Args:
        name: its label.
        unit: its SI unit.
        value: to begin with, in SI.
        bounds: low, high, and a step if there is a third: numbers in SI, or texts with a unit, of
            which the first one's unit is shown.

    Raises:
        ArgumentError: not two or three numbers, an empty range, or one without the value in it.
    """
    if isinstance(bounds, str) or len(bounds) not in (2, 3):
        raise ArgumentError(
            f"the range of {name!r} is {bounds!r}; it is (low, high), or (low, high, step)."
        )
    what = f"the range of {name!r}"
    shown, factor = _shown_unit(bounds[0], unit, what)
    low, high, *steps = (float(si_value(x, unit, what)) / factor for x in bounds)
    step = steps[0] if steps else (high - low) / STEPS
    if not (math.isfinite(low) and math.isfinite(high) and low < high and 0 < step <= high - low):
        raise ArgumentError(
            f"the range of {name!r} is {low:g} to {high:g} {shown} in steps of {step:g}: the lower "
            "end comes first, and the step is positive and fits in."
        )
    if not low * factor - 1e-12 * abs(value) <= value <= high * factor + 1e-12 * abs(value):
        raise ArgumentError(
            f"{name!r} begins at {value / factor:g} {shown}, outside its range of {low:g} to "
            f"{high:g} {shown}."
        )
    return Slider(name, shown, factor, low, high, step, value / factor)


def _shown_unit(bound: float | str, unit: str, what: str) -> tuple[str, float]:
    """The unit of a text, and how many SI units it is; the SI unit of a number."""
    if not isinstance(bound, str):
        return unit, 1.0
    word = quantity(bound, what).unit or unit
    return word, float(si_value(f"1 {word}", unit, what))
