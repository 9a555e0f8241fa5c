"""The room `program`: from equations to numbers — programs, kernels, loops and back ends."""

from .kernel import Bound, Kernel, MachineKernel
from .loops import Loop, at, f64, floor, fmax, fmin, i64, iptr, kernel, loop, ptr
from .program import Entry, Program
from .to_numpy import to_numpy

__all__ = [
    "Bound",
    "Entry",
    "Kernel",
    "Loop",
    "MachineKernel",
    "Program",
    "at",
    "f64",
    "floor",
    "fmax",
    "fmin",
    "i64",
    "iptr",
    "kernel",
    "loop",
    "ptr",
    "to_numpy",
]
