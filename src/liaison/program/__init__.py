"""The room `program`: from equations to numbers — programs, kernels, loops and back ends."""

from .batch import BoundBatch
from .cuda import DeviceArray
from .door import Bound
from .gpu import GpuKernel, to_gpu
from .kernel import Kernel, MachineKernel
from .looped import Looped, looped
from .looped_loops import LoopedLoops, looped_loops
from .loops import Loop, at, entry_at, f64, floor, fmax, fmin, i64, iptr, kernel, loop, ptr
from .loops_c import loops_to_c
from .loops_compile import CompiledLoops, compile_loops
from .lower import lower
from .package import Package, c_package
from .program import Entry, Program
from .to_c import compile_c, to_c
from .to_jax import to_jax
from .to_llvm import to_llvm
from .to_numpy import to_numpy
from .to_ptx import to_ptx

__all__ = [
    "Bound",
    "BoundBatch",
    "CompiledLoops",
    "DeviceArray",
    "Entry",
    "GpuKernel",
    "Kernel",
    "Loop",
    "Looped",
    "LoopedLoops",
    "MachineKernel",
    "Package",
    "Program",
    "at",
    "c_package",
    "compile_c",
    "compile_loops",
    "entry_at",
    "f64",
    "floor",
    "fmax",
    "fmin",
    "i64",
    "iptr",
    "kernel",
    "loop",
    "looped",
    "looped_loops",
    "loops_to_c",
    "lower",
    "ptr",
    "to_c",
    "to_gpu",
    "to_jax",
    "to_llvm",
    "to_numpy",
    "to_ptx",
]
