"""The room `analyse`: what can be said of a mechanism's motion with its equations at hand."""

from .equilibrium import Equilibrium, equilibrium
from .inverse_motion import Efforts, inverse_dynamics, kinematic_run
from .linearize import Linearization, linearize
from .reduce import Reduction, reduce
from .sensitivities import Sensitivities, sensitivities
from .singularities import RankAlong, RankLoss, rank_along
from .verify import Theorem, Verification, verify

__all__ = [
    "Efforts",
    "Equilibrium",
    "Linearization",
    "RankAlong",
    "RankLoss",
    "Reduction",
    "Sensitivities",
    "Theorem",
    "Verification",
    "equilibrium",
    "inverse_dynamics",
    "kinematic_run",
    "linearize",
    "rank_along",
    "reduce",
    "sensitivities",
    "verify",
]
