"""Entries as machine code within JAX, with exact Jacobians as rules of differentiation.

XLA takes seconds to compile a thousand scalar operations, and a minute for their derivatives. Here
it sees one call of the machine code that liaison has compiled (XLA's foreign function interface,
on CPUs), over all states of a batch. The rule of a derivative calls the entry of the Jacobian and
multiplies: δf = J δz, which JAX also transposes, for `jax.grad`. Of forward dynamics J solves once
more with the factored system (derivatives.py), so the elimination is never differentiated.

Public names: native_function.

Source: the header `xla/ffi/api/c_api.h` of jaxlib, version 0 of its interface, for the offsets.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any
from uuid import uuid4

import numpy as np

from liaison.errors import ProgramError
from liaison.expr import Expr, symbols_of
from liaison.program.derivatives.derivatives import shortest_jacobian
from liaison.program.kernel import Kernel, MachineKernel
from liaison.program.llvm.machine import load
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.program import ARRAYS, Entry, Program
from liaison.program.solve import dense

LARGEST_WORK = 32_768
"""Doubles of workspace that fit on the stack of a thread of XLA (256 KiB)."""

SOLVED = {
    "forward": (("vdot", "lam"), "d_forward", {"q": "q", "v": "v", "u": "u"}),
    "inverse": (("tau",), "d_inverse", {"q": "q", "v": "v", "u": "u", "x": "vdot"}),
}
"""Entries whose Jacobians are entries of their own: blocks, entry, array -> ending of its block."""

KEPT: dict[str, tuple[Any, ...]] = {}
"""Machine code that XLA may call as long as the process lives, by the name of its target."""

HANDLER = """
declare void @entry(double, ptr, ptr, ptr, ptr, ptr, ptr, ptr)
define ptr @handler(ptr %frame) nounwind {{
start:
  %pe = getelementptr i8, ptr %frame, i64 8
  %extension = load ptr, ptr %pe
  %is_call = icmp eq ptr %extension, null
  br i1 %is_call, label %call, label %about
about:
  %pt = getelementptr i8, ptr %extension, i64 8
  %type = load i32, ptr %pt
  %is_metadata = icmp eq i32 %type, 1
  br i1 %is_metadata, label %metadata_asked, label %call
metadata_asked:
  %pm = getelementptr i8, ptr %extension, i64 24
  %metadata = load ptr, ptr %pm
  %pa = getelementptr i8, ptr %frame, i64 16
  %api = load ptr, ptr %pa
  %pv = getelementptr i8, ptr %api, i64 32
  %version = load i64, ptr %pv
  %pw = getelementptr i8, ptr %metadata, i64 24
  store i64 %version, ptr %pw
  %pr = getelementptr i8, ptr %metadata, i64 32
  store i32 0, ptr %pr
  ret ptr null
call:
  %work = alloca [{work} x double], align 64
  %p_arguments = getelementptr i8, ptr %frame, i64 72
  %arguments = load ptr, ptr %p_arguments
  %p_results = getelementptr i8, ptr %frame, i64 112
  %results = load ptr, ptr %p_results
{buffers}
  br label %count
count:
  %axis = phi i64 [0, %call], [%axis1, %more]
  %states = phi i64 [1, %call], [%states1, %more]
  %has_axis = icmp slt i64 %axis, %rank0
  br i1 %has_axis, label %more, label %loop
more:
  %p_size = getelementptr i64, ptr %dims0, i64 %axis
  %size = load i64, ptr %p_size
  %states1 = mul i64 %states, %size
  %axis1 = add i64 %axis, 1
  br label %count
loop:
  %i = phi i64 [0, %count], [%i1, %one]
  %goes = icmp slt i64 %i, %states
  br i1 %goes, label %one, label %end
one:
  %p_time = getelementptr double, ptr %data0, i64 %i
  %time = load double, ptr %p_time
{places}
  call void @entry(double %time, {passed}, ptr %work)
  %i1 = add i64 %i, 1
  br label %loop
end:
  ret ptr null
}}
"""


def native_function(kernel: MachineKernel, entry: str, jax: Any) -> Callable[..., Any]:
    """The entry as f(t, q, v, u, p, x) on JAX arrays of doubles, with its exact derivatives.

    Raises:
        ProgramError: its workspace is too large for the stack of a thread.
    """
    call = _broadcast(_target(kernel, entry, jax), jax)
    function = jax.custom_jvp(call)
    jacobians = _Jacobians(kernel, entry, jax)

    def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        value = function(*primals)
        change = jax.numpy.zeros_like(value)
        for name, primal, tangent in zip(ARRAYS, primals, tangents, strict=True):
            if isinstance(tangent, jax.custom_derivatives.SymbolicZero):
                continue
            J = jacobians.by(name, primals, primal.shape[-1] if name != "t" else 1)
            column = tangent[..., None] if name == "t" else tangent
            if J is not None and J.shape[-1]:
                change = change + jax.numpy.einsum("...ij,...j->...i", J, column)
        return value, change

    function.defjvp(rule, symbolic_zeros=True)
    return function  # type: ignore[no-any-return]


class _Jacobians:
    """Jacobians of an entry by each array, of shape (…, outputs, size of the array)."""

    def __init__(self, kernel: MachineKernel, entry: str, jax: Any) -> None:
        self.kernel, self.entry, self.jax = kernel, entry, jax
        self.layout = kernel.program.entry(entry).layout
        self.calls: dict[str, Callable[..., Any]] = {}

    def by(self, name: str, primals: Sequence[Any], width: int) -> Any:
        """The Jacobian by one array; None where it is zero in every state."""
        if self.entry in SOLVED and (name == "p" or name in SOLVED[self.entry][2]):
            return self.solved(name, primals, width)
        return self.derived(self.entry, name, primals, width)

    def solved(self, name: str, primals: Sequence[Any], width: int) -> Any:
        """From the entry that solves with the factored system; q along velocities, N⁺ δq."""
        jnp, program = self.jax.numpy, self.kernel.program
        blocks, source, endings = SOLVED[self.entry]
        source = f"{source}_p" if name == "p" else source
        out = self.call(source, self.kernel)(*primals)
        ending, rows, start = endings.get(name, "p"), {}, 0
        for label, size in program.entry(source).layout:
            rows[label] = out[..., start : start + size]
            start += size
        columns = program.sizes["nv"] if name in ("q", "v", "x") else width
        parts = []
        for label, size in self.layout:
            flat = rows[f"{label}_{ending}"] if label in blocks else None
            shape = (*out.shape[:-1], size, columns)
            parts.append(jnp.zeros(shape) if flat is None else flat.reshape(shape))
        J = jnp.concatenate(parts, axis=-2)
        return self.along(J, primals) if name == "q" else self.padded(J, width)

    def along(self, J: Any, primals: Sequence[Any]) -> Any:
        """J N⁺: what a change of q does that moves along velocities."""
        jnp, nv = self.jax.numpy, self.kernel.program.sizes["nv"]
        t, q, v, u, p, _ = primals
        at = (t, q, v, u, p, jnp.zeros((*q.shape[:-1], nv)))
        N = self.derived("retract", "x", at, nv)
        if N is None:
            return J
        T = jnp.swapaxes(N, -1, -2)
        return J @ jnp.linalg.solve(T @ N, T)

    def derived(self, entry: str, name: str, primals: Sequence[Any], width: int) -> Any:
        """From the formulas of the entry, differentiated on their graph."""
        program = self.kernel.program
        outputs = program.entry(entry).outputs
        symbols = [x for x in symbols_of(outputs) if program.inputs[x][0] == name]
        if not symbols:
            return None
        key = f"{entry} by {name}"
        out = self.call(key, lambda: to_llvm(_with_jacobian(program, key, outputs, symbols)))
        columns = 1 + max(program.inputs[x][1] for x in symbols)
        flat = out(*primals)
        return self.padded(flat.reshape(*flat.shape[:-1], len(outputs), columns), width)

    def padded(self, J: Any, width: int) -> Any:
        """J with zeros for what the entry does not read."""
        more = [(0, 0)] * (J.ndim - 1) + [(0, width - J.shape[-1])]
        return J if J.shape[-1] == width else self.jax.numpy.pad(J, more)

    def call(self, key: str, kernel: MachineKernel | Callable[[], Kernel]) -> Callable[..., Any]:
        """The entry of a Jacobian, compiled once; it has no derivative itself."""
        if key not in self.calls:
            machine = kernel if isinstance(kernel, MachineKernel) else kernel()
            call = self.jax.custom_jvp(_broadcast(_target(machine, key, self.jax), self.jax))
            call.defjvp(_no_second)
            self.calls[key] = call
        return self.calls[key]


def _no_second(primals: Any, tangents: Any) -> Any:
    raise ProgramError(
        "machine code has first derivatives only: this asks for second ones.",
        hint='Use to_jax(…, code="formulas"), which JAX differentiates as often as is asked.',
    )


def _with_jacobian(
    program: Program, key: str, outputs: Sequence[Expr], symbols: Sequence[Expr]
) -> Program:
    """A program of one entry: the derivatives by some symbols of one array, row by row."""
    places = [program.inputs[x][1] for x in symbols]
    slopes = shortest_jacobian(outputs, symbols)
    entries = {(i, places[j]): x for (i, j), x in slopes.items()}
    formulas = tuple(dense(entries, len(outputs), 1 + max(places)))
    return replace(program, entries={key: Entry(key, formulas)})


def _target(kernel: MachineKernel, entry: str, jax: Any) -> Callable[..., Any]:
    """A call of the entry's machine code by XLA; all arrays have the same leading axes."""
    work, size = max(1, kernel.work_size(entry)), kernel.out_size(entry)
    if work > LARGEST_WORK:
        raise ProgramError(
            f"the entry {entry!r} of {kernel.program.name!r} wants {work} numbers of workspace, "
            f"more than the {LARGEST_WORK} that fit on the stack of a thread of XLA.",
            hint='Use to_jax(…, code="formulas").',
        )
    name = f"liaison_{uuid4().hex}"  # never that of another process, whose code XLA may have kept
    code = load(_handler(work), ["handler"], imports={"entry": kernel.address(entry)})
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(code["handler"])
    KEPT[name] = (kernel, code, function)
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(function), platform="cpu")

    def call(t: Any, *arrays: Any) -> Any:
        result = jax.ShapeDtypeStruct((*t.shape, size), np.float64)
        return jax.ffi.ffi_call(name, result, vmap_method="broadcast_all")(t, *arrays)

    return call


def _handler(work: int) -> str:
    """IR of what XLA calls: finds the buffers, and runs the entry for each state."""
    buffers, places = [], []
    for k in range(7):
        array, index = ("results", 0) if k == 6 else ("arguments", k)
        buffers.append(f"""  %pb{k} = getelementptr ptr, ptr %{array}, i64 {index}
  %b{k} = load ptr, ptr %pb{k}
  %pd{k} = getelementptr i8, ptr %b{k}, i64 24
  %data{k} = load ptr, ptr %pd{k}
  %pk{k} = getelementptr i8, ptr %b{k}, i64 32
  %rank{k} = load i64, ptr %pk{k}
  %px{k} = getelementptr i8, ptr %b{k}, i64 40
  %dims{k} = load ptr, ptr %px{k}""")
        if k:
            buffers.append(f"""  %last{k} = add i64 %rank{k}, -1
  %pl{k} = getelementptr i64, ptr %dims{k}, i64 %last{k}
  %stride{k} = load i64, ptr %pl{k}""")
            places.append(f"""  %at{k} = mul i64 %i, %stride{k}
  %a{k} = getelementptr double, ptr %data{k}, i64 %at{k}""")
    return HANDLER.format(
        work=work,
        buffers="\n".join(buffers),
        places="\n".join(places),
        passed=", ".join(f"ptr %a{k}" for k in range(1, 7)),
    )


def _broadcast(call: Callable[..., Any], jax: Any) -> Callable[..., Any]:
    """The call with all arrays brought to the same leading axes."""
    jnp = jax.numpy

    def function(t: Any, *arrays: Any) -> Any:
        batch = jnp.broadcast_shapes(t.shape, *(a.shape[:-1] for a in arrays))
        full = [jnp.broadcast_to(a, (*batch, a.shape[-1])) for a in arrays]
        if not prod(batch):
            raise ProgramError("an array of states is empty: there is nothing to compute.")
        return call(jnp.broadcast_to(t, batch), *full)

    return function
