"""The room `analyse`: what can be said of a mechanism's motion with its equations at hand."""

from liaison.analyse.along.inverse_motion import Efforts, inverse_dynamics, kinematic_run
from liaison.analyse.along.sensitivities import Sensitivities, sensitivities
from liaison.analyse.along.singularities import RankAlong, RankLoss, rank_along
from liaison.analyse.along.verify import Theorem, Verification, verify
from liaison.analyse.proofs.first_integrals import FirstIntegral, first_integrals
from liaison.analyse.proofs.reduce import Reduction, reduce
from liaison.analyse.rest.equilibrium import Equilibrium, equilibrium
from liaison.analyse.rest.linearize import Linearization, linearize
from liaison.analyse.rest.solutions import Solutions, accelerations, compare_solutions

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
