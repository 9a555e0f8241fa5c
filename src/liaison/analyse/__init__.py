"""The room `analyse`: what can be said of a mechanism's motion with its equations at hand."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "equilibrium": "Equilibrium equilibrium",
        "first_integrals": "FirstIntegral first_integrals",
        "inverse_motion": "Efforts inverse_dynamics kinematic_run",
        "linearize": "Linearization linearize",
        "reduce": "Reduction reduce",
        "sensitivities": "Sensitivities sensitivities",
        "singularities": "RankAlong RankLoss rank_along",
        "solutions": "Solutions accelerations compare_solutions",
        "verify": "Theorem Verification verify",
    },
)
