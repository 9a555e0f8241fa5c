"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.freedoms.global_.assembly import AssemblyModes as AssemblyModes
from liaison.freedoms.global_.assembly import assembly_modes as assembly_modes
from liaison.freedoms.global_.inverse_kinematics import inverse_kinematics as inverse_kinematics
from liaison.freedoms.global_.modes import Mode as Mode

from .mobility import Mobility as Mobility
from .mobility import mobility as mobility
from .mobility import mobility_of_systems as mobility_of_systems
from .mobility import singularities as singularities
from .psi import Parametrization as Parametrization
from .redundancy import Redundancy as Redundancy
from .singular import Singularities as Singularities
from .unassembled import Link as Link
from .unassembled import RingVerdict as RingVerdict
from .unassembled import ring_mobility as ring_mobility
