"""Linearize about a state: eigenvalues, frequencies, modes.

Public names: linearize.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from liaison.cli.options import WithStart, with_options
from liaison.verbs.registry import command

Independent = Annotated[
    list[str] | None,
    typer.Option(metavar="COORDINATE", help="An independent coordinate. Repeatable."),
]
AtRest = Annotated[
    bool, typer.Option("--rest", help="Linearize about the stable equilibrium near the start.")
]


@command
@with_options
def linearize(
    *,
    rest: AtRest = False,
    independent: Independent = None,
    call: WithStart,
) -> None:
    """Linearize about the start or an equilibrium: eigenvalues, frequencies, modes."""
    from liaison.cli.values import named_by
    from liaison.verbs.analyse import equilibrium
    from liaison.verbs.analyse import linearize as verb

    request = call.request()
    own: dict[str, Any] = {"start": request.start}
    if rest:
        own = {"state": equilibrium.equilibrium(request.mechanism, **own).state}
    with named_by("--independent"):
        linear = verb.linearize(request.mechanism, independent=independent or (), **own)
    call.answer({"name": request.mechanism.name} | linear.to_dict(), str(linear))
