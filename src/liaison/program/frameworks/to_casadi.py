"""to_casadi: entries and time steps as CasADi functions, for optimal control and estimation.

Formulas become CasADi's scalar expressions (SX), each operation once, so that its derivatives are
exact and sparse. A step of an explicit method is one such expression; of an implicit method its
stages are solved by Newton's method and differentiated by the implicit function theorem.

Public names: to_casadi, casadi_step.

Source: AGH19.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import add, mul, neg, sub, truediv
from typing import Any

from liaison.errors import ProgramError, needed
from liaison.expr import Expr, expanded, topological
from liaison.program.program import ARRAYS, Program

from .one_step import Coefficients, Parts, check_steps, corrected, ended, explicit_step, stage

PLAIN: dict[str, Callable[..., Any]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": truediv,
    "neg": neg,
    "pow": pow,
}
NAMED = {
    **{n: n for n in ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2")},
    **{n: n for n in ("exp", "log", "sign")},
    "abs": "fabs",
    "min": "fmin",
    "max": "fmax",
}
EXTRA = {
    **dict.fromkeys(("rate", "retract", "local_rate", "inverse", "d_inverse"), ("nv",)),
    **dict.fromkeys(("reactions", "d_residual"), ("nv", "nc")),
    "difference": ("nq",),
}
"""What x counts in entries that may read less than all of it."""

TOLERANCE = 1e-13
"""Residual of the stages of an implicit step [SI]."""


def to_casadi(program: Program, entry: str, *, parameters: bool = False) -> Any:
    """The entry as a `casadi.Function` of named arguments, its blocks as named results.

    Args:
        program: with the entry.
        entry: its name: forward, inverse, mass_matrix, bias, closure, energy, poses, outputs, …
        parameters: p is an argument, too; otherwise its values are numbers of the function.

    Returns:
        f(t, q, v, u, p?, x?): x where the entry reads it (v̇ of inverse dynamics). Scalars in it
        bear the labels of the mechanism. Results are named as blocks of the entry; what is no
        identifier has underscores, and what is an argument, too, ends in `_out`. CasADi takes 0
        for an argument that is left out.

    Raises:
        MissingModule: CasADi is not installed.

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> energy = liaison.program.to_casadi(program, "energy")
        >>> energy(q=0.0, v=2.0)["U"]
        DM(-4.905)
    """
    with needed("casadi"):
        import casadi
    program.schedule(entry)
    outputs = expanded(program.entry(entry).outputs)
    arguments = _arguments(casadi, program, entry, parameters)
    values = _scalars(casadi, outputs, _known(casadi, program, arguments))
    blocks: list[Any] = []
    start = 0
    for _, size in program.entry(entry).layout:
        blocks.append(casadi.vertcat(*values[start : start + size]) if size else casadi.SX(0, 1))
        start += size
    inputs = {name: x for name, x in arguments.items() if name != "p" or parameters}
    names = _unique(casadi, [name for name, _ in program.entry(entry).layout], inputs)
    title = casadi.Function.fix_name(entry)
    return casadi.Function(title, list(inputs.values()), blocks, list(inputs), names)


def casadi_step(
    program: Program, method: Coefficients, *, corrections: int = 2, parameters: bool = False
) -> Any:
    """One time step as a `casadi.Function` step(t, q, v, u, p?, h) -> q_next, v_next.

    Args:
        program: of a mechanism without contacts.
        method: explicit or implicit; inputs u are constant during the step.
        corrections: Newton steps by which the new positions return to the closures, in the metric
            of M, before the velocities do; 0 leaves the drift of the method.
        parameters: p is an argument, too.

    Raises:
        MissingModule: CasADi is not installed.
        ProgramError: the mechanism has contacts, stops or dry friction.
    """
    with needed("casadi"):
        import casadi
    check_steps(program)
    if corrections < 0:
        raise ProgramError(f"corrections is {corrections}; it is a number from 0 on.")
    nv = program.sizes["nv"]
    arguments = _arguments(casadi, program, "energy", parameters)
    arguments["h"] = casadi.SX.sym("h")
    inputs = {name: x for name, x in arguments.items() if name != "p" or parameters}
    implicit = method.is_implicit
    if implicit:
        inputs = {name: casadi.MX.sym(name, *x.shape) for name, x in inputs.items()}
    parts = _parts(program, inputs, parameters)
    t, q, v, h = (inputs[name] for name in ("t", "q", "v", "h"))
    if implicit:
        slopes = _stages(casadi, parts, method, inputs, nv)
        q, v = ended(parts, method, slopes, q, v, h)
    else:
        q, v = explicit_step(parts, method, t, q, v, h)
    q, v = corrected(parts, t + h, q, v, corrections)
    return casadi.Function("step", [*inputs.values()], [q, v], [*inputs], ["q_next", "v_next"])


def _stages(
    casadi: Any, parts: Parts, method: Coefficients, inputs: Mapping[str, Any], nv: int
) -> list[tuple[Any, Any]]:
    """Slopes of an implicit method, solved for by Newton's method from those at the beginning."""
    count = len(method.b)
    t, q, v, h = (inputs[name] for name in ("t", "q", "v", "h"))
    z = casadi.MX.sym("slopes", 2 * nv * count)
    unknown = [(z[2 * nv * i :][:nv], z[2 * nv * i + nv :][:nv]) for i in range(count)]
    rows = []
    for i, (xidot, vdot) in enumerate(unknown):
        at = stage(parts, method, i, unknown, t, q, v, h)
        rows += [xidot - at[0], vdot - at[1]]
    names = list(inputs)
    residual = casadi.Function(
        "stages", [z, *inputs.values()], [casadi.vertcat(*rows)], ["z", *names], ["r"]
    ).expand()
    options = {"abstol": TOLERANCE, "error_on_fail": False}
    solver = casadi.rootfinder("solved_stages", "newton", residual, options)
    first = casadi.vertcat(*parts.rate(t, q, 0 * v, v))
    solved = solver(casadi.repmat(first, count, 1), *inputs.values())
    return [(solved[2 * nv * i :][:nv], solved[2 * nv * i + nv :][:nv]) for i in range(count)]


def _parts(program: Program, inputs: Mapping[str, Any], parameters: bool) -> Parts:
    """What a step asks, of the functions of the entries."""
    names = ["rate", "retract"]
    if program.sizes["nc"]:
        names += ["correct_q", "correct_v"]
    functions = {name: to_casadi(program, name, parameters=parameters) for name in names}
    fixed = {name: inputs[name] for name in ("u", "p") if name in inputs}

    def called(name: str, **arrays: Any) -> dict[str, Any]:
        known = {**fixed, **arrays}
        takes = functions[name].name_in()
        return dict(functions[name](**{key: known[key] for key in takes if key in known}))

    def rate(t: Any, q: Any, xi: Any, v: Any) -> tuple[Any, Any]:
        slopes = called("rate", t=t, q=q, v=v, x=xi)
        return slopes["xidot"], slopes["vdot"]

    def correction(name: str) -> Callable[..., Any] | None:
        return (lambda t, q, v: called(name, t=t, q=q, v=v)["delta"]) if name in functions else None

    return Parts(
        rate,
        lambda q, xi: called("retract", q=q, x=xi)["q_out"],
        correction("correct_q"),
        correction("correct_v"),
    )


def _arguments(casadi: Any, program: Program, entry: str, parameters: bool) -> dict[str, Any]:
    """Arrays as columns of scalars that bear the labels; p as numbers where it is no argument."""
    sizes = {name: program.sizes.get(f"n{name}", 0) for name in "qvup"}
    for name, size in program.reads(entry).items():
        sizes[name] = max(size, sizes.get(name, 0))
    if sizes["x"]:
        sizes["x"] = max(sizes["x"], sum(program.sizes[n] for n in EXTRA.get(entry, ())))
    arguments: dict[str, Any] = {"t": casadi.SX.sym("t")}
    for name in ARRAYS[1:]:
        labels = [x.name for x in program.labels.get(name, ())] if name != "x" else []
        labels += [f"{name}{k}" for k in range(len(labels), sizes[name])]
        scalars = [casadi.SX.sym(label) for label in labels[: sizes[name]]]
        if name == "p" and not parameters:
            scalars = [casadi.SX(float(x)) for x in program.defaults.get("p", ())]
        if scalars or name != "x":
            arguments[name] = casadi.vertcat(*scalars) if scalars else casadi.SX(0, 1)
    return arguments


def _known(casadi: Any, program: Program, arguments: Mapping[str, Any]) -> dict[Expr, Any]:
    """Symbols of the program as scalars of the arguments."""
    scalars = {name: casadi.vertsplit(x) if x.numel() else [] for name, x in arguments.items()}
    return {
        symbol: scalars[name][index]
        for symbol, (name, index) in program.inputs.items()
        if name in scalars and index < len(scalars[name])
    }


def _scalars(casadi: Any, formulas: Sequence[Expr], known: Mapping[Expr, Any]) -> list[Any]:
    """Formulas as CasADi's, each node once."""
    operations = {**PLAIN, **{op: getattr(casadi, name) for op, name in NAMED.items()}}
    operations["select"] = lambda c, x, y: casadi.if_else(c > 0, x, y)
    values = dict(known)
    for node in topological(formulas):
        if node.op == "const":
            values[node] = casadi.SX(float(node.value))
        elif node.op != "symbol":
            values[node] = operations[node.op](*(values[arg] for arg in node.args))
    return [values[node] for node in formulas]


def _unique(casadi: Any, names: Sequence[str], taken: Mapping[str, Any]) -> list[str]:
    """Identifiers for results: CasADi knows arguments and results by one set of names."""
    chosen: list[str] = []
    for name in names:
        fixed = casadi.Function.fix_name(name)
        if fixed in taken:
            fixed = f"{fixed}_out"
        while fixed in chosen:
            fixed = f"{fixed}_more"
        chosen.append(fixed)
    return chosen
