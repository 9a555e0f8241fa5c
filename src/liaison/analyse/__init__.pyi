"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.analyse.equilibrium import Equilibrium as Equilibrium
from liaison.analyse.equilibrium import equilibrium as equilibrium
from liaison.analyse.first_integrals import FirstIntegral as FirstIntegral
from liaison.analyse.first_integrals import first_integrals as first_integrals
from liaison.analyse.inverse_motion import Efforts as Efforts
from liaison.analyse.inverse_motion import inverse_dynamics as inverse_dynamics
from liaison.analyse.inverse_motion import kinematic_run as kinematic_run
from liaison.analyse.linearize import Linearization as Linearization
from liaison.analyse.linearize import linearize as linearize
from liaison.analyse.reduce import Reduction as Reduction
from liaison.analyse.reduce import reduce as reduce
from liaison.analyse.sensitivities import Sensitivities as Sensitivities
from liaison.analyse.sensitivities import sensitivities as sensitivities
from liaison.analyse.singularities import RankAlong as RankAlong
from liaison.analyse.singularities import RankLoss as RankLoss
from liaison.analyse.singularities import rank_along as rank_along
from liaison.analyse.solutions import Solutions as Solutions
from liaison.analyse.solutions import accelerations as accelerations
from liaison.analyse.solutions import compare_solutions as compare_solutions
from liaison.analyse.verify import Theorem as Theorem
from liaison.analyse.verify import Verification as Verification
from liaison.analyse.verify import verify as verify
