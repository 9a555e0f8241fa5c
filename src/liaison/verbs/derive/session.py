"""Open the terms of equations one by one.

Public names: session.
"""

from __future__ import annotations

from collections.abc import Sequence

from liaison.arguments import checked
from liaison.equations.vector.session import Session
from liaison.verbs.given import Given

from .vector_equations import vector_equations


@checked
def session(given: Given, *, bodies: Sequence[str] = (), point: str | None = None) -> Session:
    """The equations of a mechanism as vectors, whose terms open one by one.

    Args:
        given: the mechanism, the path of its text, or the text.
        bodies: of a sub-system, by name.
        point: of its moments: O0, O1, G1, …

    Example:
        >>> import liaison
        >>> type(liaison.session("examples/pendulum.lsd")).__name__
        'Session'
    """
    return Session(vector_equations(given, bodies=bodies, point=point))
