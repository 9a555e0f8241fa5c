"""Hand the equations of motion, a time step or a run to JAX.

Public names: to_jax.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liaison.arguments import checked
from liaison.numeric.progress import lasting
from liaison.program.kernel import Kernel
from liaison.program.program import Program
from liaison.verbs.given import Given

from .to_casadi import check_no_method, coefficients_of, program_of


@lasting("program")
@checked
def to_jax(
    program: Given | Kernel | Program,
    entry: str = "forward",
    *,
    named: bool = False,
    code: str = "",
    method: str = "",
    corrections: int = 2,
) -> Callable[..., Any]:
    """An entry, one time step, or a run of equal steps, as a function on JAX arrays.

    Args:
        program: a mechanism, the path of its text, a kernel or a program.
        entry: forward, inverse, energy, poses, outputs, …; or "step", or "run".
        named: return the blocks of an entry by name: {"vdot": …, "lam": …}.
        code: "machine": XLA calls liaison's machine code, with exact Jacobians as rules of
            differentiation, so that compiling takes no time (doubles on a CPU; first derivatives);
            "formulas": JAX traces every operation. The first where it is possible, unless named.
        method: of a step or run: "rk4" (unless named) or another explicit Runge–Kutta method.
        corrections: of a step or run: Newton steps by which positions return to the closures.

    Returns:
        f(t, q, v, u, p, x) -> outputs, see `liaison.program.to_jax`; step(t, q, v, u, p, h) ->
        q, v; or run(q, v, u, p, h=…, steps=…, t=0) -> q and v with a row for each instant.
        All can be differentiated by `jax.grad` and `jax.jacobian`.

    Raises:
        MissingModule: JAX is not installed.
        ProgramError: machine code in single precision or on another device; a step of a mechanism
            with contacts, stops or dry friction, or by an implicit method.

    Example:
        >>> import liaison
        >>> mass = liaison.to_jax("examples/pendulum.lsd", "mass_matrix")
        >>> float(mass(q=[0.3])[0]) > 0
        True
        >>> run = liaison.to_jax("examples/pendulum.lsd", "run", method="rk4")
        >>> positions, speeds = run([0.3], [0.0], h=0.01, steps=10)
        >>> positions.shape
        (11, 1)
    """
    from liaison.program.frameworks.to_jax import jax_run, jax_step
    from liaison.program.frameworks.to_jax import to_jax as entry_of

    model = program if isinstance(program, Kernel) else program_of(program)
    if entry not in ("step", "run"):
        check_no_method(entry, method)
        return entry_of(model, entry, named=named, code=code)
    chosen = coefficients_of(method or "rk4")
    step = jax_step(model, chosen, corrections=corrections, code=code)
    return jax_run(step) if entry == "run" else step
