"""The room `program`: from equations to numbers — programs, kernels, loops and back ends."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "llvm.batch": "BoundBatch",
        "gpu.cuda": "DeviceArray",
        "gpu.to_gpu": "GpuKernel to_gpu",
        "kernel": "Bound Kernel MachineKernel",
        "many.looped": "Looped looped",
        "many.looped_loops": "LoopedLoops looped_loops",
        "loops.language": (
            "Loop at bits entry_at f64 floor fmax fmin from_bits i64 iptr kernel loop ptr"
        ),
        "loops.c": "loops_to_c",
        "loops.compile": "CompiledLoops compile_loops",
        "lower": "lower",
        "c.package": "Package c_package",
        "program": "Entry Program",
        "c.to_c": "compile_c to_c",
        "frameworks.to_casadi": "to_casadi",
        "frameworks.to_jax": "to_jax",
        "llvm.to_llvm": "to_llvm",
        "to_numpy": "to_numpy",
        "gpu.to_ptx": "to_ptx",
        "wasm.to_wasm": "to_wasm",
    },
)
