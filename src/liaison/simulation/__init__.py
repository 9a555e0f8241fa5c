"""The room `simulate`: a kernel and a state become a trajectory, in a compiled time loop."""

from liaison.simulation.batch.result import Runs
from liaison.simulation.batch.run import simulate_batch
from liaison.simulation.plan.settings import Settings
from liaison.simulation.record.trajectory import EventRecord, Series, Trajectory, load
from liaison.simulation.steps.projection import Projection

from .machine import map_entry
from .run import Run, simulate
from .stepper import Stepper, stepper

__all__ = [
    "EventRecord",
    "Projection",
    "Run",
    "Runs",
    "Series",
    "Settings",
    "Stepper",
    "Trajectory",
    "load",
    "map_entry",
    "simulate",
    "simulate_batch",
    "stepper",
]
