"""Write bodies and equations as assignments, or read them.

Public names: assignments.
"""

from __future__ import annotations

from pathlib import Path

from liaison.arguments import checked
from liaison.equations.assignments import Assignments, assignments_of, read_assignments
from liaison.expr.graph.node import collector_paused
from liaison.formats.read import data_of, text_of
from liaison.numeric.progress import lasting
from liaison.verbs.given import Given, mechanism_of

from .derive import derive

SUFFIX = ".assign"
"""Files of assignments end so."""


@lasting("equations")
@checked
def assignments(given: Given, formalism: str = "newton_euler") -> Assignments:
    """The compiled form of a mechanism, or the one that a file ending in .assign holds.

    `str` of it is the text of such a file; `evaluate` gives M, h, τ, Φ, G and γ at a state.

    Args:
        given: the mechanism, the path of its text, the text, or the path of a file of assignments.
        formalism: by name; a file has its own.

    Raises:
        DerivationError: a mechanism with unilateral constraints.
        TextError: a file that holds no assignments.

    Example:
        >>> import liaison
        >>> print(str(liaison.assignments("examples/pendulum.lsd")).splitlines()[0])
        (* structure *)
    """
    is_file = isinstance(given, str | Path) and str(given).lower().endswith(SUFFIX)
    with collector_paused():
        if is_file:
            path = Path(str(given))
            return read_assignments(text_of(data_of(path), path), str(path))
        mechanism = mechanism_of(given)
        return assignments_of(derive(mechanism, formalism, exact=True), mechanism)
