"""The room `simulate`: a kernel and a state become a trajectory, in a compiled time loop."""

from .batch_result import Runs
from .batch_run import simulate_batch
from .machine import map_entry
from .projection import Projection
from .run import Run, simulate
from .settings import Settings
from .stepper import Stepper, stepper
from .trajectory import EventRecord, Series, Trajectory, load

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
