"""Analyses of a mechanism's motion by its equations."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "rest.equilibrium": "Equilibrium equilibrium",
        "proofs.first_integrals": "FirstIntegral first_integrals",
        "along.inverse_motion": "Efforts inverse_dynamics kinematic_run",
        "rest.linearize": "Linearization linearize",
        "proofs.reduce": "Reduction reduce",
        "along.sensitivities": "Sensitivities sensitivities",
        "along.singularities": "RankAlong RankLoss rank_along",
        "rest.solutions": "Solutions accelerations compare_solutions",
        "along.verify": "Theorem Verification verify",
    },
)
