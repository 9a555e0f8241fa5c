"""Compile the equations of motion to machine code.

Public names: compile.
"""

from __future__ import annotations

from liaison.equations.newton_euler import newton_euler
from liaison.expr.memory import collector_paused
from liaison.program.kernel import Kernel
from liaison.program.lower import lower
from liaison.program.to_llvm import to_llvm
from liaison.verbs.derive.derive import Formalism, derive
from liaison.verbs.given import Given


def compile(given: Given, formalism: str | Formalism = newton_euler) -> Kernel:
    """The equations of motion as machine code.

    Args:
        given: the mechanism, the path of its text, or the text.
        formalism: by name, or as a function; see `FORMALISMS`.
    """
    with collector_paused():
        return to_llvm(lower(derive(given, formalism)))
