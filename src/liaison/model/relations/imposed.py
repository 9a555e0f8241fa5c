"""A coordinate that follows a law of time.

Public names: PrescribedMotion, imposed.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import Place
from liaison.expr import Expr, as_expr, symbol
from liaison.lazy import Brief
from liaison.model.kinds import Property
from liaison.model.places import label_of, line_here
from liaison.model.records import Joint

from .relation import OfCoordinates, Read, relation_kind


@relation_kind
@final
@dataclass(frozen=True, slots=True, repr=False)
class PrescribedMotion(OfCoordinates, Brief):
    """A coordinate that follows a law of time (liaison rhéonome): coordinate = law(t)."""

    name: str
    coordinate: str
    law: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    LSD: ClassVar[str] = "impose"
    PYTHON: ClassVar[str] = "imposed"
    SYMBOL: ClassVar[str] = "law"
    SCOPE: ClassVar[str] = "time"
    SCALARS: ClassVar[tuple[str, ...]] = ("law",)
    QUANTITIES: ClassVar[tuple[Property, ...]] = (Property("law", "@coordinate"),)

    def labels(self) -> tuple[str, ...]:
        return (self.coordinate,)

    def vanishing(self) -> Expr:
        return as_expr(symbol(self.coordinate) - self.law)

    def tangent(self) -> Expr:
        return symbol(self.coordinate)

    def holds(self) -> str:
        return self.coordinate

    def implied(self, known: Mapping[str, Any], value: Read) -> dict[str, Any]:
        return {self.coordinate: value(self.law)}


@checked
def imposed(on: str | Joint, motion: Any, *, name: str = "") -> PrescribedMotion:
    """A coordinate that follows a formula of `time`.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.imposed(A, 3 * liaison.t))
        >>> round(float(liaison.simulate(m, until=1)["A"][-1]), 6)
        3.0
    """
    label = label_of(on)
    return PrescribedMotion(name or f"imposed {label}", label, motion, line_here())
