"""Solve the constrained system by every method, and compare.

Public names: solutions.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import WithStart, with_options
from liaison.verbs.registry import command


@command
@with_options
def solutions(
    *,
    maximal: Annotated[
        bool,
        typer.Option(
            "--maximal", help="Maximal coordinates: every joint by all its constraint rows."
        ),
    ] = False,
    call: WithStart,
) -> None:
    """Solve the constrained system at the start in every way, and compare them."""
    from liaison.verbs.analyse import solutions as verb

    request = call.request()
    solved = verb.solutions(request.mechanism, start=request.start, maximal=maximal)
    call.answer(solved.to_dict(), str(solved))
