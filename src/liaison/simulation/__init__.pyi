"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.simulation.batch.result import Runs as Runs
from liaison.simulation.batch.run import simulate_batch as simulate_batch
from liaison.simulation.live.module import live_module as live_module
from liaison.simulation.live.package import live_package as live_package
from liaison.simulation.live.package import live_script as live_script
from liaison.simulation.machine import map_entry as map_entry
from liaison.simulation.plan.options import RunOptions as RunOptions
from liaison.simulation.plan.settings import Settings as Settings
from liaison.simulation.record.trajectory import EventRecord as EventRecord
from liaison.simulation.record.trajectory import Series as Series
from liaison.simulation.record.trajectory import Trajectory as Trajectory
from liaison.simulation.record.trajectory import load as load
from liaison.simulation.run import Run as Run
from liaison.simulation.run import simulate as simulate
from liaison.simulation.stepper import Stepper as Stepper
from liaison.simulation.stepper import stepper as stepper
from liaison.simulation.steps.projection import Projection as Projection
from liaison.simulation.worlds.derivatives import StepDerivatives as StepDerivatives
from liaison.simulation.worlds.worlds import Worlds as Worlds
from liaison.simulation.worlds.worlds import worlds_of as worlds_of
