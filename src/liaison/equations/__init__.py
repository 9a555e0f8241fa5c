"""The room `equations`: one function a formalism, all filling one contract."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from liaison.equations.formalisms.balance import Balance, balance
from liaison.equations.formalisms.boltzmann_hamel import BoltzmannHamel, boltzmann_hamel
from liaison.equations.formalisms.dalembert import dalembert
from liaison.equations.formalisms.gibbs_appell import GibbsAppell, gibbs_appell
from liaison.equations.formalisms.hamilton import Hamilton, hamilton
from liaison.equations.formalisms.kane import Kane, kane
from liaison.equations.formalisms.lagrange import lagrange
from liaison.equations.formalisms.lagrange_reduced import lagrange_reduced
from liaison.equations.formalisms.lie_group import LieGroup, lie_group
from liaison.equations.formalisms.maximal import maximal
from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.equations.sweeps.recursions import Recursion, Sweep
from liaison.equations.sweeps.sweeps import Blocks, Sweeps, blocks_of, sweeps
from liaison.equations.transform.stabilized import stabilized
from liaison.equations.transform.transform import Reduced, reduced, transformed

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
from .statement import Line, statement

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
