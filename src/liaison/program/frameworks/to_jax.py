"""to_jax: an entry as a JAX function, to be compiled, differentiated and mapped by JAX.

The graph is replayed operation by operation while JAX traces it, so `jax.jit`, `jax.grad` and
`jax.vmap` see plain arithmetic. Precision is that of the arrays given: doubles need
`jax.config.update("jax_enable_x64", True)`.

Public names: to_jax.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from operator import add, mul, neg, sub, truediv
from typing import Any

from liaison.errors import needed
from liaison.expr import Expr, expanded, topological

from liaison.program.program import ARRAYS, Program

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


def to_jax(program: Program, entry: str, *, named: bool = False) -> Callable[..., Any]:
    """The entry as f(t, q, v, u, p, x) -> outputs, on JAX arrays.

    Args:
        program: with the entry.
        entry: its name.
        named: return the blocks of the entry by name, as `kernel.call` does: {"vdot": …, "lam": …};
            a dictionary is a pytree, so that `jax.jit` and `jax.vmap` take it.

    Returns:
        A function of one time and five arrays, whose last axes count components; earlier axes are
        states and broadcast. What is left out is the time 0, empty, or the default of u and p. Its
        value is one array, the blocks of the entry one after another, or a dictionary of them.

    Raises:
        MissingModule: JAX is not installed.

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> mass = liaison.to_jax(program, "mass_matrix")
        >>> float(mass(q=[0.3], v=[0.0])[0]) > 0
        True
    """
    with needed("jax"):
        import jax.numpy as jnp
    program.schedule(entry)
    outputs = expanded(program.entry(entry).outputs)
    order = topological(outputs)
    operations = {**PLAIN, **{op: getattr(jnp, name) for op, name in NAMED.items()}}
    operations["pow"] = jnp.power
    operations["select"] = lambda c, x, y: jnp.where(c > 0, x, y)

    def function(
        t: Any = 0.0, q: Any = (), v: Any = (), u: Any = None, p: Any = None, x: Any = ()
    ) -> Any:
        u = program.defaults.get("u", ()) if u is None else u
        p = program.defaults.get("p", ()) if p is None else p
        arrays = dict(zip(ARRAYS, map(jnp.asarray, (t, q, v, u, p, x)), strict=True))
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

    return _by_name(function, program.entry(entry).layout) if named else function


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
