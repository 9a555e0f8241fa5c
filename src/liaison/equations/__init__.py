"""The room `equations`: one function a formalism, all filling one contract."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from .balance import Balance, balance
from .boltzmann_hamel import BoltzmannHamel, boltzmann_hamel
from .dalembert import dalembert
from .equations import (
    Chart,
    Closures,
    Dynamics,
    Entries,
    Equations,
    EventFormula,
    Kinematic,
    Reports,
    Side,
    Sides,
    Symbols,
)
from .gibbs_appell import GibbsAppell, gibbs_appell
from .hamilton import Hamilton, hamilton
from .kane import Kane, kane
from .lagrange import lagrange
from .lagrange_reduced import lagrange_reduced
from .lie_group import LieGroup, lie_group
from .maximal import maximal
from .newton_euler import newton_euler
from .stabilized import stabilized
from .statement import Line, statement
from .sweep_recursions import Recursion, Sweep
from .sweeps import Blocks, Sweeps, blocks_of, sweeps
from .transform import Reduced, reduced, transformed

FORMALISMS: Mapping[str, Callable[..., Equations]] = MappingProxyType(
    {
        "newton_euler": newton_euler,
        "dalembert": dalembert,
        "lagrange": lagrange,
        "lagrange_reduced": lagrange_reduced,
        "hamilton": hamilton,
        "kane": kane,
        "boltzmann_hamel": boltzmann_hamel,
        "gibbs_appell": gibbs_appell,
        "lie_group": lie_group,
        "maximal": maximal,
    }
)
"""Every formalism by name: a function of a tree, with options of its own."""

__all__ = [
    "FORMALISMS",
    "Balance",
    "Blocks",
    "BoltzmannHamel",
    "Chart",
    "Closures",
    "Dynamics",
    "Entries",
    "Equations",
    "EventFormula",
    "GibbsAppell",
    "Hamilton",
    "Kane",
    "Kinematic",
    "LieGroup",
    "Line",
    "Recursion",
    "Reduced",
    "Reports",
    "Side",
    "Sides",
    "Sweep",
    "Sweeps",
    "Symbols",
    "balance",
    "blocks_of",
    "boltzmann_hamel",
    "dalembert",
    "gibbs_appell",
    "hamilton",
    "kane",
    "lagrange",
    "lagrange_reduced",
    "lie_group",
    "maximal",
    "newton_euler",
    "reduced",
    "stabilized",
    "statement",
    "sweeps",
    "transformed",
]
