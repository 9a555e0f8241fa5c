"""Compile the equations of motion to machine code.

Public names: compile.
"""

from __future__ import annotations

from liaison.arguments import checked
from liaison.contacts.convex.kernel import with_convex
from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.expr.graph.node import collector_paused
from liaison.numeric.progress import working
from liaison.program.back_ends import back_end_named
from liaison.program.kernel import Kernel
from liaison.program.lower import lower
from liaison.verbs.assembling import Origin
from liaison.verbs.given import Given, mechanism_of

from .derive import Formalism, derive


@checked
def compile(
    given: Given, formalism: str | Formalism = newton_euler, *, back_end: str = "llvm"
) -> Kernel:
    """The equations of motion as a kernel: machine code, or what another back end makes.

    `simulate(kernel, until=…, start=…, parameters=…)` closes the loops in compiled code, too.

    Args:
        given: the mechanism, the path of its text, or the text.
        formalism: by name, or as a function; see `FORMALISMS`.
        back_end: by name: "llvm", "portable" (machine code as well, with results of the same bits
            on every computer), "c" (through a C compiler), "numpy" (interpreted), or one that was
            added to `BACK_ENDS`.

    Example:
        >>> import liaison
        >>> kernel = liaison.to_kernel("examples/pendulum.lsd")
        >>> kernel.call("energy", q=[0.0], v=[2.0])
        {'T': array([0.66666667]), 'U': array([-4.905])}
    """
    kernel_of = back_end_named(back_end)
    mechanism = mechanism_of(given)
    with collector_paused(), working("program", f"compiling {mechanism.name}"):
        kernel = kernel_of(lower(derive(mechanism, formalism)))
        if kernel.program.facts["convex"]:
            kernel = with_convex(kernel)
        has_closures = formalism in (newton_euler, newton_euler.__name__)
        kernel.origin = Origin(mechanism, has_closures)
        return kernel
