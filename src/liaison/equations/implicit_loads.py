"""Loads whose efforts follow what they act along: servos, springs, dampers, back EMF, as formulas.

Steps of a fixed size take such an effort at the end that it leads to itself. They need it apart
from the other forces,

    τ = Jᵀ e(x, ẋ),   ẋ = J v + ẋ₀,   s = −∂e/∂ẋ,   k = −∂e/∂x                     (loads-1)

with e at any x and ẋ.

Public names: ImplicitLoad, ImplicitLoads, measured, measure_symbols.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import final

from liaison.expr import ZERO, Expr, as_expr, gradient, symbol, vanishes
from liaison.model import AlongMeasure, Mechanism

from .setting import Setting, measure_row, reading, without_free_length


@final
@dataclass(frozen=True, slots=True)
class ImplicitLoad:
    """One load of (loads-1)."""

    name: str
    value: Expr  # x
    rate: Expr  # ẋ
    J: Mapping[int, Expr]  # velocity -> entry
    effort: Expr  # of `measure_symbols`
    damping: Expr  # s
    stiffness: Expr  # k
    is_stored: bool = False  # its work is in U


def measured(mechanism: Mechanism) -> list[AlongMeasure]:
    """Loads that act along a measure, in order."""
    return [force for force in mechanism.forces if isinstance(force, AlongMeasure)]


def measure_symbols(name: str) -> tuple[Expr, Expr]:
    """x and ẋ of a load in its law."""
    return symbol(f"'measure of {name}"), symbol(f"'rate of {name}")


@final
class ImplicitLoads:
    """A row for each load along a measure, derived when first asked for.

    A row is empty where the effort does not follow the measure.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @cached_property
    def rows(self) -> tuple[ImplicitLoad, ...]:
        """In the order of the mechanism."""
        return tuple(_implicit(self.setting, x) for x in measured(self.setting.mechanism))


def _implicit(setting: Setting, force: AlongMeasure) -> ImplicitLoad:
    """One of them."""
    read = reading(setting.kinematics, setting)
    x, rate = measure_symbols(force.name)
    effort = as_expr(force.effort_at(x, rate, read))
    stiffness, damping = (-y for y in gradient(effort, [x, rate]))
    is_given = vanishes(stiffness) and vanishes(damping)
    if is_given or without_free_length(setting.kinematics, force, read) is not None:
        return ImplicitLoad(force.name, ZERO, ZERO, MappingProxyType({}), ZERO, ZERO, ZERO)
    row = measure_row(setting.kinematics, force.along())
    J = {j: as_expr(y) for j, y in row.G.items() if not vanishes(y)}
    return ImplicitLoad(
        force.name, as_expr(row.value), as_expr(row.rate), MappingProxyType(J), effort, damping,
        stiffness, is_stored=force.energy_at(x, read) is not None,
    )  # fmt: skip
