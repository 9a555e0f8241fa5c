"""Formulas that stay zero: of positions and time, or of rates as well.

Public names: Holonomic, holonomic, Nonholonomic, nonholonomic.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.arguments import checked
from liaison.errors import Place
from liaison.expr import Expr, as_expr
from liaison.model.places import line_here

from .relation import OfCoordinates, relation_kind


@relation_kind
@final
@dataclass(frozen=True, slots=True)
class Holonomic(OfCoordinates):
    """A formula Φ(q, t) that stays zero."""

    name: str
    formula: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    LSD: ClassVar[str] = "require"
    PYTHON: ClassVar[str] = "holonomic"
    SYMBOL: ClassVar[str] = "formula"
    SCOPE: ClassVar[str] = "positions"
    KEEPS_ENERGY: ClassVar[bool] = True

    def vanishing(self) -> Expr:
        return as_expr(self.formula)


@checked
def holonomic(name: str, formula: Any) -> Holonomic:
    """A formula of coordinates and time that stays zero.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> held = liaison.holonomic("held", liaison.sin(liaison.coordinate(A)) - 0.5)
        >>> liaison.check(liaison.mechanism(A, held)).freedoms
        0
    """
    return Holonomic(name, formula, line_here())


@relation_kind
@final
@dataclass(frozen=True, slots=True)
class Nonholonomic(OfCoordinates):
    """A formula of rates that stays zero: A(q, t) q̇ + b(q, t), or any Φ(q, q̇, t).

    Where it is not linear in the rates, its reaction is along ∂Φ/∂q̇: Chetaev's rule, which is a
    choice that mechanics alone does not make.
    """

    name: str
    formula: Any
    place: Place | None = field(default=None, compare=False, repr=False)

    LSD: ClassVar[str] = "require"
    PYTHON: ClassVar[str] = "nonholonomic"
    SYMBOL: ClassVar[str] = "formula"
    SCOPE: ClassVar[str] = "motion"
    OF_SPEEDS: ClassVar[bool] = True

    def vanishing(self) -> Expr:
        return as_expr(self.formula)


@checked
def nonholonomic(name: str, formula: Any) -> Nonholonomic:
    """A formula of rates that stays zero; by Chetaev's rule where it is not linear in them.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> drag = liaison.nonholonomic("drag", liaison.rate(A) - 2)
        >>> liaison.check(liaison.mechanism(A, drag)).closure_rows
        1
    """
    return Nonholonomic(name, formula, line_here())
