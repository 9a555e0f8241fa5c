"""Find an equilibrium near the start.

Public names: equilibrium.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import WithStart, with_options
from liaison.verbs.registry import command


@command
@with_options
def equilibrium(
    *,
    nearest: Annotated[
        bool, typer.Option("--nearest", help="The nearest equilibrium, stable or not.")
    ] = False,
    call: WithStart,
) -> None:
    """Find a position of rest near the start, whether it is stable, and what its joints bear."""
    from liaison.verbs.analyse import equilibrium as verb

    request = call.request()
    kind = "nearest" if nearest else "stable"
    rest = verb.equilibrium(request.mechanism, start=request.start, kind=kind)
    call.answer({"name": request.mechanism.name} | rest.to_dict(), str(rest))
