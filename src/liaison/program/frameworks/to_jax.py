"""to_jax: an entry as a JAX function, to be compiled, differentiated and mapped by JAX.

On a CPU and in doubles XLA calls liaison's machine code (`jax_native.py`). Otherwise the graph is
replayed operation by operation while JAX traces it, so that `jax.jit`, `jax.grad` and `jax.vmap`
see plain arithmetic. Doubles need `jax.config.update("jax_enable_x64", True)`.

Public names: to_jax, jax_step, jax_run.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from operator import add, mul, neg, sub, truediv
from typing import Any

from liaison.errors import NamingError, ProgramError, needed
from liaison.expr import Expr, expanded, topological
from liaison.program.kernel import Kernel, MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.program import ARRAYS, Program
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
        from .jax_native import native_function

        machine = kernel if isinstance(kernel, MachineKernel) else to_llvm(program)
        inner = native_function(machine, entry, jax)
        checked = machine.check
    else:
        inner, checked = _traced(program, entry, jnp), to_numpy(program).check

    def function(
        t: Any = 0.0, q: Any = (), v: Any = (), u: Any = None, p: Any = None, x: Any = ()
    ) -> Any:
        u = program.defaults.get("u", ()) if u is None else u
        p = program.defaults.get("p", ()) if p is None else p
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
