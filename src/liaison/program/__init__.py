"""The room `program`: from equations to numbers — programs, kernels, loops and back ends."""

from liaison.program.c.package import Package, c_package
from liaison.program.c.to_c import compile_c, to_c
from liaison.program.gpu.cuda import DeviceArray
from liaison.program.gpu.to_gpu import GpuKernel, to_gpu
from liaison.program.gpu.to_ptx import to_ptx
from liaison.program.llvm.batch import BoundBatch
from liaison.program.llvm.door import Bound
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.loops.c import loops_to_c
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import (
    Loop,
    at,
    entry_at,
    f64,
    floor,
    fmax,
    fmin,
    i64,
    iptr,
    kernel,
    loop,
    ptr,
)
from liaison.program.many.looped import Looped, looped
from liaison.program.many.looped_loops import LoopedLoops, looped_loops

from .kernel import Kernel, MachineKernel
from .lower import lower
from .program import Entry, Program
from .to_jax import to_jax
from .to_numpy import to_numpy

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
