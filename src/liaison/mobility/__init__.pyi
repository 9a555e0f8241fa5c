"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.mobility.assembly import AssemblyModes as AssemblyModes
from liaison.mobility.assembly import assembly_modes as assembly_modes
from liaison.mobility.inverse_kinematics import inverse_kinematics as inverse_kinematics
from liaison.mobility.mobility import Mobility as Mobility
from liaison.mobility.mobility import mobility as mobility
from liaison.mobility.mobility import mobility_of_systems as mobility_of_systems
from liaison.mobility.mobility import singularities as singularities
from liaison.mobility.modes import Mode as Mode
from liaison.mobility.psi import Parametrization as Parametrization
from liaison.mobility.redundancy import Redundancy as Redundancy
from liaison.mobility.singular import Singularities as Singularities
from liaison.mobility.unassembled import Link as Link
from liaison.mobility.unassembled import RingVerdict as RingVerdict
from liaison.mobility.unassembled import ring_mobility as ring_mobility
