"""to_jax: an entry as a JAX function, to be compiled, differentiated and mapped by JAX.

XLA takes seconds to compile a thousand scalar operations, and a minute for their derivatives. So on
a CPU and in doubles it sees one call of the machine code that liaison has compiled (XLA's foreign
function interface), over all states of a batch. The rule of a derivative calls the entry of the
Jacobian and multiplies: δf = J δz, which JAX also transposes, for `jax.grad`. Of forward dynamics J
solves once more with the factored system (derivatives.py), so the elimination is never
differentiated. Otherwise the graph is replayed operation by operation while JAX traces it, and
`jax.jit`, `jax.grad` and `jax.vmap` see plain arithmetic. Doubles need
`jax.config.update("jax_enable_x64", True)`.

Offsets in what XLA passes are those of the header `xla/ffi/api/c_api.h` of jaxlib (interface 0).

Public names: to_jax, jax_step, jax_run.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod
from operator import add, mul, neg, sub, truediv
from typing import Any
from uuid import uuid4

import numpy as np

from liaison.errors import NamingError, ProgramError, needed
from liaison.expr import Expr, expanded, symbols_of, topological
from liaison.program.derivatives.derivatives import shortest_jacobian
from liaison.program.kernel import Kernel, MachineKernel
from liaison.program.llvm.machine import load
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.program import ARRAYS, Entry, Program
from liaison.program.solve import dense
from liaison.program.to_numpy import to_numpy

from .one_step import Coefficients, Parts, check_steps, corrected, explicit_step

PLAIN: dict[str, Callable[..., Any]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": truediv,
    "neg": neg,
}
NAMED = {
    **{name: name for name in ("sqrt", "sin", "cos", "tan", "exp", "log", "abs", "sign")},
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "min": "minimum",
    "max": "maximum",
}

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


def to_jax(
    program: Program | Kernel, entry: str, *, named: bool = False, code: str = ""
) -> Callable[..., Any]:
    """The entry as f(t, q, v, u, p, x) -> outputs, on JAX arrays.

    Args:
        program: with the entry, or a kernel of it.
        entry: its name.
        named: return the blocks of the entry by name, as `kernel.call` does: {"vdot": …, "lam": …};
            a dictionary is a pytree, so that `jax.jit` and `jax.vmap` take it.
        code: "machine": XLA calls liaison's machine code, and derivatives are liaison's exact
            Jacobians, so that compiling takes no time (doubles on a CPU; first derivatives; those
            by q along velocities where dynamics are solved); "formulas": JAX traces every
            operation. The first where JAX works in doubles on a CPU, unless named.

    Returns:
        A function of one time and five arrays, whose last axes count components; earlier axes are
        states and broadcast. What is left out is the time 0, empty, or the default of u and p. Its
        value is one array, the blocks of the entry one after another, or a dictionary of them.

    Raises:
        MissingModule: JAX is not installed.
        ProgramError: machine code in single precision or on another device.

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> mass = liaison.to_jax(program, "mass_matrix")
        >>> float(mass(q=[0.3], v=[0.0])[0]) > 0
        True
    """
    with needed("jax"):
        import jax
        import jax.numpy as jnp
    kernel = program if isinstance(program, Kernel) else None
    program = program.program if isinstance(program, Kernel) else program
    is_machine = _is_machine(jax, code)
    if is_machine:
        machine = kernel if isinstance(kernel, MachineKernel) else to_llvm(program)
        inner = _native(machine, entry, jax)
        checked = machine.check
    else:
        inner, checked = _traced(program, entry, jnp), to_numpy(program).check

    def function(
        t: Any = 0.0, q: Any = (), v: Any = (), u: Any = None, p: Any = None, x: Any = ()
    ) -> Any:
        u = program.defaults.get("u", ()) if u is None else u
        p = program.defaults.get("p", ()) if p is None else p
        if is_machine:
            _is_machine(jax, "machine")  # singles may have been chosen meanwhile
        dtype = float if is_machine else None
        arrays = [jnp.asarray(a, dtype=dtype) for a in (t, q, v, u, p, x)]
        checked(entry, dict(zip(ARRAYS[1:], arrays[1:], strict=True)))
        return inner(*arrays)

    return _by_name(function, program.entry(entry).layout) if named else function


def _is_machine(jax: Any, code: str) -> bool:
    """Whether XLA is to call machine code."""
    if code not in ("", "machine", "formulas"):
        raise NamingError.unknown("code", code, ("machine", "formulas"))
    is_able = jax.config.jax_enable_x64 and jax.default_backend() == "cpu"
    if code == "machine" and not is_able:
        raise ProgramError(
            "machine code is of doubles on a CPU, and JAX works "
            + ("on " + jax.default_backend() if jax.config.jax_enable_x64 else "in singles")
            + ".",
            hint='jax.config.update("jax_enable_x64", True), or to_jax(…, code="formulas").',
        )
    return is_able and code != "formulas"


def _traced(program: Program, entry: str, jnp: Any) -> Callable[..., Any]:
    """The graph replayed operation by operation."""
    program.schedule(entry)
    outputs = expanded(program.entry(entry).outputs)
    order = topological(outputs)
    operations = {**PLAIN, **{op: getattr(jnp, name) for op, name in NAMED.items()}}
    operations["pow"] = jnp.power
    operations["select"] = lambda c, x, y: jnp.where(c > 0, x, y)

    def function(*arguments: Any) -> Any:
        arrays = dict(zip(ARRAYS, arguments, strict=True))
        value: dict[Expr, Any] = {}
        for node in order:
            if node.op == "const":
                value[node] = float(node.value)
            elif node.op == "symbol":
                name, index = program.inputs[node]
                value[node] = arrays[name] if name == "t" else arrays[name][..., index]
            elif node.op == "pow" and _whole(node.args[1]) is not None:
                value[node] = value[node.args[0]] ** _whole(node.args[1])
            else:
                value[node] = operations[node.op](*(value[arg] for arg in node.args))
        values = jnp.broadcast_arrays(*(jnp.asarray(value[node]) for node in outputs))
        return jnp.stack(values, axis=-1) if values else jnp.zeros(0)

    return function


def jax_step(
    program: Program | Kernel, method: Coefficients, *, corrections: int = 2, code: str = ""
) -> Callable[..., tuple[Any, Any]]:
    """One time step as step(t, q, v, u, p, h) -> q, v; u is constant during the step.

    Args:
        program: of a mechanism without contacts.
        method: explicit.
        corrections: Newton steps by which positions return to the closures, before velocities do.
        code: see `to_jax`.

    Raises:
        MissingModule: JAX is not installed.
        ProgramError: an implicit method; contacts, stops or dry friction.
    """
    with needed("jax"):
        import jax.numpy as jnp
    model = program.program if isinstance(program, Kernel) else program
    check_steps(model)
    if method.is_implicit:
        raise ProgramError(
            "an implicit method has no step in JAX: its stages would be solved by iterations.",
            hint="Use an explicit one such as rk4 here, or to_casadi for implicit steps.",
        )
    names = ["forward", "retract", "local_rate"]
    names += ["correct_q", "correct_v"] if model.sizes["nc"] else []
    f = {name: to_jax(program, name, named=True, code=code) for name in names}

    def parts(u: Any, p: Any) -> Parts:
        def rate(t: Any, q: Any, xi: Any, v: Any) -> tuple[Any, Any]:
            there = f["retract"](t, q, v, u, p, xi)["q"]
            slope = f["local_rate"](t, q, v, u, p, xi)["xidot"]
            return slope, f["forward"](t, there, v, u, p)["vdot"]

        def correction(name: str) -> Callable[..., Any] | None:
            return (lambda t, q, v: f[name](t, q, v, u, p)["delta"]) if name in f else None

        retract = lambda q, xi: f["retract"](0.0, q, xi, u, p, xi)["q"]  # noqa: E731
        return Parts(rate, retract, correction("correct_q"), correction("correct_v"))

    def step(t: Any, q: Any, v: Any, u: Any, p: Any, h: Any) -> tuple[Any, Any]:
        q, v = jnp.asarray(q, dtype=float), jnp.asarray(v, dtype=float)
        here = parts(u, p)
        q, v = explicit_step(here, method, t, q, v, h)
        return corrected(here, t + h, q, v, corrections)

    return step


def jax_run(step: Callable[..., tuple[Any, Any]]) -> Callable[..., tuple[Any, Any]]:
    """Equal steps one after another, as run(q, v, u, p, h, steps, t) -> all q, all v.

    Args:
        step: of `jax_step`.

    Returns:
        A function of the state at the time t; u is one array for all steps, or has a row for each;
        `steps` is a number that jit must know (static_argnames). Its values have a row for each
        instant, the first included.
    """
    with needed("jax"):
        import jax
        import jax.numpy as jnp

    def run(
        q: Any, v: Any, u: Any = None, p: Any = None, *, h: Any, steps: int, t: Any = 0.0
    ) -> tuple[Any, Any]:
        held = u is None or jnp.ndim(u) == 1

        def one(state: tuple[Any, Any], at: tuple[Any, Any]) -> tuple[Any, Any]:
            k, now = at
            state = step(t + k * h, *state, u if held else now, p, h)
            return state, state

        start = jnp.asarray(q, dtype=float), jnp.asarray(v, dtype=float)
        count = jnp.arange(steps)
        _, (qs, vs) = jax.lax.scan(one, start, (count, count if held else jnp.asarray(u)))
        return jnp.concatenate([start[0][None], qs]), jnp.concatenate([start[1][None], vs])

    return run


def _by_name(
    function: Callable[..., Any], layout: tuple[tuple[str, int], ...]
) -> Callable[..., dict[str, Any]]:
    """The function, whose value is cut into its blocks."""
    ends = list(accumulate(size for _, size in layout))
    parts = {name: slice(end - size, end) for (name, size), end in zip(layout, ends, strict=True)}

    def by_name(*arguments: Any, **keywords: Any) -> dict[str, Any]:
        whole = function(*arguments, **keywords)
        return {name: whole[..., part] for name, part in parts.items()}

    return by_name


def _whole(node: Expr) -> int | None:
    """The whole number a formula is, if it is one: JAX multiplies then, and takes any base."""
    number = float(node.value) if node.op == "const" else 0.5
    return int(number) if number.is_integer() else None


def _native(kernel: MachineKernel, entry: str, jax: Any) -> Callable[..., Any]:
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

    def call(
        self, key: str, kernel: MachineKernel | Callable[[], MachineKernel]
    ) -> Callable[..., Any]:
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
