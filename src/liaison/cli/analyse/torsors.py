"""Print torsors of velocity, momentum and its rate.

Public names: torsors.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import Call, with_options
from liaison.verbs.registry import command


@command
@with_options
def torsors(
    *,
    point: Annotated[str, typer.Option(metavar="X,Y,Z", help="Of the ground [m].")] = "0,0,0",
    call: Annotated[Call, "start", "values"],
) -> None:
    """Velocities, momenta and their rates as torsors of every body, reduced at a point."""
    from liaison.cli.values import three
    from liaison.verbs.state import torsors as verb

    request = call.request()
    result = verb.torsors(request.mechanism, point=three("--point", point, "m") or (0.0, 0.0, 0.0))
    call.answer(result.to_dict(), result.text)
