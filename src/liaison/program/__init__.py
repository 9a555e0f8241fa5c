"""The room `program`: from equations to numbers — programs, kernels, loops and back ends."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "batch": "BoundBatch",
        "cuda": "DeviceArray",
        "door": "Bound",
        "gpu": "GpuKernel to_gpu",
        "kernel": "Kernel MachineKernel",
        "looped": "Looped looped",
        "looped_loops": "LoopedLoops looped_loops",
        "loops": "Loop at entry_at f64 floor fmax fmin i64 iptr kernel loop ptr",
        "loops_c": "loops_to_c",
        "loops_compile": "CompiledLoops compile_loops",
        "lower": "lower",
        "package": "Package c_package",
        "program": "Entry Program",
        "to_c": "compile_c to_c",
        "to_jax": "to_jax",
        "to_llvm": "to_llvm",
        "to_numpy": "to_numpy",
        "to_ptx": "to_ptx",
    },
)
