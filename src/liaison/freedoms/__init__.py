"""mobility: what a closed mechanism can do, exactly.

Takes a mechanism in an assembled position and says how many degrees of freedom it has: to first
order and finitely, what of that is proved and how, and which closure equations are redundant.
"""

from liaison.freedoms.global_.assembly import AssemblyModes, assembly_modes
from liaison.freedoms.global_.inverse_kinematics import inverse_kinematics
from liaison.freedoms.global_.modes import Mode

from .mobility import Mobility, mobility, mobility_of_systems, singularities
from .psi import Parametrization
from .redundancy import Redundancy
from .singular import Singularities
from .unassembled import Link, RingVerdict, ring_mobility

__all__ = [
    "AssemblyModes",
    "Link",
    "Mobility",
    "Mode",
    "Parametrization",
    "Redundancy",
    "RingVerdict",
    "Singularities",
    "assembly_modes",
    "inverse_kinematics",
    "mobility",
    "mobility_of_systems",
    "ring_mobility",
    "singularities",
]
