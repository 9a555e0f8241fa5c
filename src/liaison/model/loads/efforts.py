"""Efforts along a measure by a formula or an input: laws, motors and jacks.

Public names: Law, law, Actuator, motor.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.errors import Place
from liaison.expr import as_expr
from liaison.model.describe.places import between, line_here
from liaison.model.kinds import Property
from liaison.model.markers import Measure

from .load import AlongMeasure, Read, load_kind


@load_kind
@final
@dataclass(frozen=True, slots=True)
class Law(AlongMeasure):
    """An effort along a measure given by any formula [N or N·m]."""

    name: str
    measure: Measure
    effort: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "law"
    LSD: ClassVar[str] = "effort"
    PYTHON: ClassVar[str] = "law"
    SYMBOL: ClassVar[str] = "strut"
    PROPERTIES: ClassVar[tuple[Property, ...]] = (Property("value", "N", "N*m", field="effort"),)
    SCALARS: ClassVar[tuple[str, ...]] = ("effort",)

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        return as_expr(read(self.effort))


def law(*where: Any, effort: Any, name: str = "") -> Law:
    """An effort given by a formula, between two markers, on a joint, or along a measure."""
    measure, word = between(where)
    return Law(name or f"law {word}", measure, effort, line_here())


@load_kind
@final
@dataclass(frozen=True, slots=True)
class Actuator(AlongMeasure):
    """Motor or jack (moteur, vérin): an effort along a measure [N or N·m], often an input."""

    name: str
    measure: Measure
    effort: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "actuator"
    LSD: ClassVar[str] = "motor"
    PYTHON: ClassVar[str] = "motor"
    SYMBOL: ClassVar[str] = "strut"
    SCALARS: ClassVar[tuple[str, ...]] = ("effort",)

    def effort_at(self, x: Any, rate: Any, read: Read) -> Any:
        return as_expr(read(self.effort))


def motor(*where: Any, effort: Any, name: str = "") -> Actuator:
    """A motor or a jack: an effort between two markers, on a joint, or along a measure."""
    measure, word = between(where)
    return Actuator(name or f"motor {word}", measure, effort, line_here())
