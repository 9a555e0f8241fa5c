"""Formulas that stay zero: of positions and time, or linear in the rates.

Public names: Holonomic, holonomic, Nonholonomic, nonholonomic.
"""

# ruff: noqa: D102 (methods of an interface are documented there)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from liaison.errors import Place, checked
from liaison.expr import Expr, as_expr
from liaison.model.describe.places import line_here

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
    """A formula of coordinates and time that stays zero."""
    return Holonomic(name, formula, line_here())


@relation_kind
@final
@dataclass(frozen=True, slots=True)
class Nonholonomic(OfCoordinates):
    """A formula A(q, t) q̇ + b(q, t), linear in the rates, that stays zero."""

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
    """A formula linear in the rates that stays zero."""
    return Nonholonomic(name, formula, line_here())
