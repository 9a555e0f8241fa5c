"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.freedoms.degrees import Mobility as Mobility
from liaison.freedoms.global_.assembly import AssemblyModes as AssemblyModes
from liaison.freedoms.global_.assembly import assembly_modes as assembly_modes
from liaison.freedoms.global_.inverse_kinematics import inverse_kinematics as inverse_kinematics
from liaison.freedoms.global_.modes import Mode as Mode
from liaison.freedoms.mobility import mobility as mobility
from liaison.freedoms.mobility import mobility_of_systems as mobility_of_systems
from liaison.freedoms.mobility import singularities as singularities
from liaison.freedoms.psi import Parametrization as Parametrization
from liaison.freedoms.redundancy import Redundancy as Redundancy
from liaison.freedoms.singular import Singularities as Singularities
from liaison.freedoms.unassembled import Link as Link
from liaison.freedoms.unassembled import RingVerdict as RingVerdict
from liaison.freedoms.unassembled import ring_mobility as ring_mobility
