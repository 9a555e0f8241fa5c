"""The room `analyse`: what can be said of a mechanism's motion with its equations at hand."""

from .equilibrium import Equilibrium, equilibrium
from .first_integrals import FirstIntegral, first_integrals
from .inverse_motion import Efforts, inverse_dynamics, kinematic_run
from .linearize import Linearization, linearize
from .reduce import Reduction, reduce
from .sensitivities import Sensitivities, sensitivities
from .singularities import RankAlong, RankLoss, rank_along
from .solutions import Solutions, accelerations, compare_solutions
from .verify import Theorem, Verification, verify

__all__ = [
    "Efforts",
    "Equilibrium",
    "FirstIntegral",
    "Linearization",
    "RankAlong",
    "RankLoss",
    "Reduction",
    "Sensitivities",
    "Solutions",
    "Theorem",
    "Verification",
    "accelerations",
    "compare_solutions",
    "equilibrium",
    "first_integrals",
    "inverse_dynamics",
    "kinematic_run",
    "linearize",
    "rank_along",
    "reduce",
    "sensitivities",
    "verify",
]
