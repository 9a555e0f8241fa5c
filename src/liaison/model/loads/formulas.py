"""Loads of a whole mechanism by a function of its state: potentials and dissipation.

Public names: Potential, potential, Dissipation, dissipation.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import Place
from liaison.model.kinds import Property
from liaison.model.places import line_here

from .load import OfMechanism, load_kind


@load_kind
@final
@dataclass(frozen=True, slots=True)
class Potential(OfMechanism):
    """Forces from a potential V(q, q̇, t) [J], given as a formula."""

    name: str
    formula: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "potential"
    LSD: ClassVar[str] = "potential"
    PYTHON: ClassVar[str] = "potential"
    SYMBOL: ClassVar[str] = "none"
    KEEPS_ENERGY: ClassVar[bool] = True
    PROPERTIES: ClassVar[tuple[Property, ...]] = (Property("value", "J", field="formula"),)
    SCALARS: ClassVar[tuple[str, ...]] = ("formula",)

    def potential(self) -> Any:
        return self.formula


@checked
def potential(name: str, formula: Any) -> Potential:
    """Forces from a potential [J].

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> magnet = liaison.potential("magnet", -0.2 * liaison.cos(2 * liaison.coordinate(A)))
        >>> liaison.forward_dynamics(liaison.mechanism(A, magnet), {"A": 0.5}).round(6)
        array([-1.346354])
    """
    return Potential(name, formula, line_here())


@load_kind
@final
@dataclass(frozen=True, slots=True)
class Dissipation(OfMechanism):
    """Rayleigh's function D(q, q̇, t) [W]: the effort on a speed is −∂D/∂v."""

    name: str
    formula: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    WORD: ClassVar[str] = "dissipation"
    LSD: ClassVar[str] = "dissipation"
    PYTHON: ClassVar[str] = "dissipation"
    SYMBOL: ClassVar[str] = "none"
    PROPERTIES: ClassVar[tuple[Property, ...]] = (Property("value", "W", field="formula"),)
    SCALARS: ClassVar[tuple[str, ...]] = ("formula",)

    def rayleigh(self) -> Any:
        return self.formula


@checked
def dissipation(name: str, formula: Any) -> Dissipation:
    """Forces from Rayleigh's function [W].

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> m = liaison.mechanism(A, liaison.dissipation("oil", 0.05 * liaison.rate(A) ** 2))
        >>> liaison.forward_dynamics(m, {"A": 0.5, "A'": 2.0}).round(6)
        array([-0.8])
    """
    return Dissipation(name, formula, line_here())
