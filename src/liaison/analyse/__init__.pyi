"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.analyse.along.inverse_motion import Efforts as Efforts
from liaison.analyse.along.inverse_motion import inverse_dynamics as inverse_dynamics
from liaison.analyse.along.inverse_motion import kinematic_run as kinematic_run
from liaison.analyse.along.sensitivities import Sensitivities as Sensitivities
from liaison.analyse.along.sensitivities import sensitivities as sensitivities
from liaison.analyse.along.singularities import RankAlong as RankAlong
from liaison.analyse.along.singularities import RankLoss as RankLoss
from liaison.analyse.along.singularities import rank_along as rank_along
from liaison.analyse.along.verify import Theorem as Theorem
from liaison.analyse.along.verify import Verification as Verification
from liaison.analyse.along.verify import verify as verify
from liaison.analyse.proofs.first_integrals import FirstIntegral as FirstIntegral
from liaison.analyse.proofs.first_integrals import first_integrals as first_integrals
from liaison.analyse.proofs.reduce import Reduction as Reduction
from liaison.analyse.proofs.reduce import reduce as reduce
from liaison.analyse.rest.equilibrium import Equilibrium as Equilibrium
from liaison.analyse.rest.equilibrium import equilibrium as equilibrium
from liaison.analyse.rest.linearize import Linearization as Linearization
from liaison.analyse.rest.linearize import linearize as linearize
from liaison.analyse.rest.solutions import Solutions as Solutions
from liaison.analyse.rest.solutions import accelerations as accelerations
from liaison.analyse.rest.solutions import compare_solutions as compare_solutions
