"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.simulate.batch_result import Runs as Runs
from liaison.simulate.batch_run import simulate_batch as simulate_batch
from liaison.simulate.machine import map_entry as map_entry
from liaison.simulate.options import RunOptions as RunOptions
from liaison.simulate.projection import Projection as Projection
from liaison.simulate.run import Run as Run
from liaison.simulate.run import simulate as simulate
from liaison.simulate.settings import Settings as Settings
from liaison.simulate.stepper import Stepper as Stepper
from liaison.simulate.stepper import stepper as stepper
from liaison.simulate.trajectory import EventRecord as EventRecord
from liaison.simulate.trajectory import Series as Series
from liaison.simulate.trajectory import Trajectory as Trajectory
from liaison.simulate.trajectory import load as load
