"""Degrees of freedom of a closed mechanism, exactly.

Takes a mechanism in an assembled position and says how many degrees of freedom it has: to first
order and finitely, what of that is proved and how, and which closure equations are redundant.
"""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "global_.assembly": "AssemblyModes assembly_modes",
        "global_.inverse_kinematics": "inverse_kinematics",
        "degrees": "Mobility",
        "mobility": "mobility mobility_of_systems singularities",
        "global_.modes": "Mode",
        "psi": "Parametrization",
        "redundancy": "Redundancy",
        "singular": "Singularities",
        "unassembled": "Link RingVerdict ring_mobility",
    },
)
