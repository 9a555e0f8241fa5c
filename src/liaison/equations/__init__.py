"""The room `equations`: one function a formalism, all filling one contract."""

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
from .formalism import Formalisms, formalism
from .formalisms import FORMALISMS
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
    "Formalisms",
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
    "formalism",
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
