"""Hand the equations of motion, or a time step, to CasADi.

Public names: to_casadi, coefficients_of, program_of.
"""

from __future__ import annotations

from typing import Any

from liaison.arguments import checked
from liaison.errors import ArgumentError, NamingError
from liaison.numeric.progress import lasting
from liaison.program.frameworks.one_step import Coefficients
from liaison.program.kernel import Kernel
from liaison.program.lower import lower
from liaison.program.program import Program
from liaison.simulation.steps.rungekutta import TABLEAUX
from liaison.verbs.given import Given

from .derive import derive

MORE = {
    "midpoint": Coefficients(((0.5,),), (1.0,), (0.5,)),
    "trapezoidal": Coefficients(((0.0, 0.0), (0.5, 0.5)), (0.5, 0.5), (0.0, 1.0)),
}
"""Implicit methods of order 2 for optimal control, besides those of runs. Source: HW2 §IV.5."""


@lasting("program")
@checked
def to_casadi(
    given: Given | Kernel | Program,
    entry: str = "forward",
    *,
    method: str = "",
    corrections: int = 2,
    parameters: bool = False,
) -> Any:
    """An entry, or one time step, as a `casadi.Function` with named arguments and results.

    Args:
        given: a mechanism, the path of its text, a kernel or a program.
        entry: forward, inverse, mass_matrix, bias, applied, closure, terms, reactions, energy,
            momentum, poses, outputs, …, also those of derivatives; or "step": one time step.
        method: of the step: "rk4" (unless named), "euler", "tsitouras" and other explicit methods
            of runs, or an implicit one: "midpoint", "trapezoidal", "gauss4", "gauss6", "radau".
        corrections: of the step: Newton steps by which positions return to the closures.
        parameters: p is an argument, too; otherwise its values are numbers of the function.

    Returns:
        f(t, q, v, u, p?, x?) with the blocks of the entry, or step(t, q, v, u, p?, h) with q_next
        and v_next; u is constant during a step, multipliers are solved in it.

    Raises:
        MissingModule: CasADi is not installed.
        ProgramError: a step of a mechanism with contacts, stops or dry friction.

    Example:
        >>> import liaison
        >>> step = liaison.to_casadi("examples/four_bar.lsd", "step")
        >>> step
        Function(step:(t,q[3],v[3],u[0],h)->(q_next[3],v_next[3]) SXFunction)
    """
    from liaison.program.frameworks.to_casadi import casadi_step
    from liaison.program.frameworks.to_casadi import to_casadi as entry_of

    program = program_of(given)
    if entry == "step":
        chosen = coefficients_of(method or "rk4")
        return casadi_step(program, chosen, corrections=corrections, parameters=parameters)
    check_no_method(entry, method)
    return entry_of(program, entry, parameters=parameters)


def check_no_method(entry: str, method: str) -> None:
    """Rejects a method of integration beside an entry."""
    if method:
        raise ArgumentError(
            f"method={method!r} is for a time step, not for the entry {entry!r}: name 'step'."
        )


def program_of(given: Given | Kernel | Program) -> Program:
    """The program itself, a kernel's, or that of a mechanism."""
    if isinstance(given, Program):
        return given
    return given.program if isinstance(given, Kernel) else lower(derive(given))


def coefficients_of(method: str) -> Coefficients:
    """The Runge–Kutta method of that name.

    Raises:
        NamingError: no method has that name, or it is no Runge–Kutta method.
    """
    known = {name: x for name, x in TABLEAUX.items() if x.scheme == "stages" and x.parts == (1,)}
    if method in MORE:
        return MORE[method]
    if method not in known:
        raise NamingError.unknown("Runge–Kutta method", method, [*known, *MORE])
    tableau, size = known[method], known[method].stages
    a = [(*map(float, row), *[0.0] * (size - len(row))) for row in tableau.a]
    b, c = tuple(map(float, tableau.b)), tuple(map(float, tableau.c))
    # of an implicit method the first stage serves error estimates only
    first = int(tableau.is_implicit and not b[0] and not any(row[0] for row in a))
    return Coefficients(tuple(row[first:] for row in a[first:]), b[first:], c[first:])
