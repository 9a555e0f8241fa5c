"""The room `equations`: one function a formalism, all filling one contract."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from liaison.tree import Tree

from .equations import (
    Chart,
    Closures,
    Dynamics,
    Entries,
    Equations,
    EventFormula,
    Inequalities,
    Kinematic,
    Reports,
    Symbols,
)
from .lagrange import lagrange
from .maximal import maximal
from .newton_euler import newton_euler
from .statement import Line, statement
from .sweep_recursions import Recursion, Sweep
from .sweeps import Sweeps, sweeps
from .transform import Reduced, reduced, transformed

FORMALISMS: Mapping[str, Callable[[Tree], Equations]] = MappingProxyType(
    {"newton_euler": newton_euler, "lagrange": lagrange, "maximal": maximal}
)
"""Every formalism by name."""

__all__ = [
    "FORMALISMS",
    "Chart",
    "Closures",
    "Dynamics",
    "Entries",
    "Equations",
    "EventFormula",
    "Inequalities",
    "Kinematic",
    "Line",
    "Recursion",
    "Reduced",
    "Reports",
    "Sweep",
    "Sweeps",
    "Symbols",
    "lagrange",
    "maximal",
    "newton_euler",
    "reduced",
    "statement",
    "sweeps",
    "transformed",
]
