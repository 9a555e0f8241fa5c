"""The room `simulate`: a kernel and a state become a trajectory, in a compiled time loop."""

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
    "Series",
    "Settings",
    "Stepper",
    "Trajectory",
    "load",
    "map_entry",
    "simulate",
    "stepper",
]
